package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"godlpack/dlpack"
)

// typeParams reads the type parameters, and the types for which each is compiled.
func (r *reader) typeParams(fn *Func, decl *ast.FuncDecl, signature *types.Signature, marks []directive) {
	asked := r.typesAsked(signature, marks)
	for i, id := range fields(decl.Type.TypeParams) {
		param := TypeParam{Name: id.name, Constraint: signature.TypeParams().At(i).Constraint()}
		possible := elementsOf(param.Constraint)
		names, said := asked[id.name]
		switch {
		case said:
			param.Elements = r.chosen(param, possible, names)
		case len(possible) == 0:
			r.add(id.at, "the types for %s are missing: write //godlpack:types %s=float32,float64, or use a constraint "+
				"that lists element types", id.name, id.name)
		default:
			param.Elements = possible
		}
		fn.TypeParams = append(fn.TypeParams, param)
	}
}

// typesAsked collects the //godlpack:types of a function, by type parameter.
func (r *reader) typesAsked(signature *types.Signature, marks []directive) map[string][]word {
	asked := map[string][]word{}
	for _, d := range marks {
		if d.verb == "types" && len(d.words) == 0 {
			r.add(d.at, "want %s", usage("types"))
		}
		for _, w := range d.words {
			if d.verb != "types" {
				break
			}
			name, list, ok := w.assignment()
			switch {
			case !ok || list.text == "":
				r.add(w.at, "%q: want %s", w.text, usage("types"))
			case !hasTypeParam(signature, name):
				r.add(w.at, "there is no type parameter %s%s", name, suggestion(typeParamNames(signature)))
			default:
				asked[name] = append(asked[name], list)
			}
		}
	}
	return asked
}

func hasTypeParam(signature *types.Signature, name string) bool {
	return slices.Contains(typeParamNames(signature), name)
}

func typeParamNames(signature *types.Signature) []string {
	var names []string
	for param := range signature.TypeParams().TypeParams() {
		names = append(names, param.Obj().Name())
	}
	return names
}

// suggestion lists the valid names, for the error about an unknown one.
func suggestion(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; want one of " + strings.Join(names, ", ")
}

// elementsOf returns the elements that a constraint lists.
func elementsOf(constraint types.Type) []Element {
	var all []Element
	set, _ := typeSet(constraint)
	for _, t := range set {
		if e, ok := elementOf(t); ok {
			all = append(all, e)
		}
	}
	return unique(all)
}

// chosen returns the elements in lists such as "float32,float64".
func (r *reader) chosen(param TypeParam, possible []Element, lists []word) []Element {
	var all []Element
	for _, list := range lists {
		at := list.at
		for name := range strings.SplitSeq(list.text, ",") {
			if e, ok := find(possible, name); ok {
				all = append(all, e)
			} else {
				r.add(at, "%s cannot be %q; its constraint allows %s", param.Name, name, names(possible))
			}
			at += token.Pos(len(name) + 1)
		}
	}
	return unique(all)
}

// find returns the element of a name.
func find(possible []Element, name string) (Element, bool) {
	d, err := dlpack.ParseDType(strings.TrimSpace(name))
	i := slices.IndexFunc(possible, func(e Element) bool { return err == nil && e.DType == d })
	if i < 0 {
		return Element{}, false
	}
	return possible[i], true
}

// dispatch finds, for each type parameter, the argument whose dtype determines it: a tensor that is always given.
func (r *reader) dispatch(fn *Func, decl *ast.FuncDecl) {
	for i := range fn.TypeParams {
		param := &fn.TypeParams[i]
		param.Arg = slices.IndexFunc(fn.Args, func(v Value) bool {
			return v.Form.Tensor() && !v.Pointer && isTypeParam(v.Element) && v.Element.String() == param.Name
		})
		if param.Arg < 0 {
			r.add(fields(decl.Type.TypeParams)[i].at, "%s cannot be inferred: it must be the element type of a tensor among the "+
				"parameters that is not optional", param.Name)
		}
	}
}
