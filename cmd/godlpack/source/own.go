package source

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// own returns the root package and the packages of the author's module that it imports, directly or indirectly. If there is
// more than one, they are loaded again, together, so that they share the objects of go/types.
func own(config *packages.Config, root *packages.Package) ([]*packages.Package, error) {
	if root.Module == nil || root.Module.Path == "godlpack" {
		return []*packages.Package{root}, nil
	}
	paths, err := ownPaths(config, root)
	if err != nil || len(paths) == 1 {
		return []*packages.Package{root}, err
	}
	all, err := packages.Load(config, paths...)
	slices.SortStableFunc(all, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	return all, err
}

// ownPaths lists the import paths of these packages, the root's first.
func ownPaths(config *packages.Config, root *packages.Package) ([]string, error) {
	names := *config
	names.Mode = packages.NeedName | packages.NeedImports | packages.NeedModule
	found := []string{root.PkgPath}
	for next := []*packages.Package{root}; len(next) > 0; {
		var new []string
		for _, p := range next {
			for path := range p.Imports {
				if strings.HasPrefix(path, root.Module.Path+"/") && !slices.Contains(found, path) {
					found, new = append(found, path), append(new, path)
				}
			}
		}
		if next = nil; new != nil {
			var err error
			if next, err = packages.Load(&names, new...); err != nil {
				return nil, err
			}
		}
		next = slices.DeleteFunc(next, func(p *packages.Package) bool {
			theirs := p.Module == nil || p.Module.Path != root.Module.Path // a module in a folder of this one
			if theirs {
				found = slices.DeleteFunc(found, func(path string) bool { return path == p.PkgPath })
			}
			return theirs
		})
	}
	return found, nil
}
