package source

import (
	"go/types"
	"slices"
)

// typeSet returns the types that a constraint lists; it ignores "~". listed is false if the constraint lists none, such as
// any and comparable.
func typeSet(constraint types.Type) (set []types.Type, listed bool) {
	switch t := constraint.(type) {
	case *types.Union:
		for term := range t.Terms() {
			part, _ := typeSet(term.Type())
			set = append(set, part...)
		}
		return set, true
	default:
		if iface, ok := t.Underlying().(*types.Interface); ok {
			return embedded(iface)
		}
		return []types.Type{t}, true
	}
}

// embedded returns the intersection of the type sets that an interface embeds.
func embedded(iface *types.Interface) (set []types.Type, listed bool) {
	for part := range iface.EmbeddedTypes() {
		also, some := typeSet(part)
		switch {
		case some && listed:
			set = slices.DeleteFunc(set, func(t types.Type) bool { return !contains(also, t) })
		case some:
			set, listed = also, true
		}
	}
	return set, listed
}

func contains(set []types.Type, t types.Type) bool {
	return slices.ContainsFunc(set, func(other types.Type) bool { return types.Identical(other, t) })
}
