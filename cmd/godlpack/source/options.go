package source

import (
	"go/ast"
	"go/types"
	"slices"

	"godlpack/kernel"
)

// Options is a struct whose exported fields are keyword-only parameters of the functions that take it.
type Options struct {
	Go       string // its name in Go
	Defaults string // the function that returns it with its defaults; "" for none
	Pointer  bool   // what that function returns

	named  *types.Named
	fields []option
}

// An option is one field.
type option struct {
	id    *ast.Ident
	words []word // of its arg directive
}

// options reads a struct with an options directive.
func (r *reader) options(spec *ast.TypeSpec, named *types.Named, marks []directive) {
	s, ok := spec.Type.(*ast.StructType)
	if !ok || len(marks) > 1 || len(marks[0].words) > 0 || spec.TypeParams != nil {
		r.add(marks[0].at, "want //godlpack:options alone, above a struct without type parameters")
		return
	}
	o := &Options{Go: spec.Name.Name, named: named}
	for _, f := range s.Fields.List {
		r.read[f.Doc], r.read[f.Comment] = true, true
		words := r.optionWords(f)
		if len(f.Names) == 0 {
			r.add(f.Pos(), "an embedded field is no option: write its fields here")
		}
		for _, id := range f.Names {
			if id.IsExported() {
				o.fields = append(o.fields, option{id, words})
			} else if words != nil {
				r.add(words[0].at, "%s is not exported, so it is no option: write it with a capital", id.Name)
			}
		}
	}
	if len(o.fields) == 0 {
		r.add(spec.Pos(), "%s has no exported fields, which options are", o.Go)
	}
	r.defaults(o)
	r.optionTypes = append(r.optionTypes, o)
}

// optionWords returns the words of a field's arg directive.
func (r *reader) optionWords(f *ast.Field) []word {
	var words []word
	for _, comment := range []*ast.CommentGroup{f.Doc, f.Comment} {
		for _, d := range directivesOf(comment) {
			if d.verb != "arg" || len(d.words) == 0 {
				r.add(d.at, "at an option, want //godlpack:arg default=VALUE, or another requirement as above functions, without the name")
				continue
			}
			words = append(words, d.words...)
		}
	}
	return words
}

// defaults finds the function Default<Type>, which needs no directive.
func (r *reader) defaults(o *Options) {
	fn, ok := r.pkg.Scope().Lookup("Default" + o.Go).(*types.Func)
	if !ok {
		return
	}
	results := fn.Signature().Results()
	if fn.Signature().Params().Len() != 0 || results.Len() != 1 || r.optionsAt(results.At(0).Type(), []*Options{o}) == nil {
		r.add(fn.Pos(), "%s gives the defaults of %s: want a function without parameters that returns %[2]s, or another name", fn.Name(), o.Go)
		return
	}
	o.Defaults = fn.Name()
	_, o.Pointer = types.Unalias(results.At(0).Type()).(*types.Pointer)
}

// optionsOf returns the options of a parameter's type, a struct or a pointer to it; nil if it has none.
func (r *reader) optionsOf(t types.Type) *Options { return r.optionsAt(t, r.optionTypes) }

func (r *reader) optionsAt(t types.Type, all []*Options) *Options {
	t = types.Unalias(t)
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	i := slices.IndexFunc(all, func(o *Options) bool { return types.Identical(o.named, t) })
	if i < 0 {
		return nil
	}
	return all[i]
}

// optionParams adds the parameters of an argument that has options.
func (r *reader) optionParams(fn *Func, o *Options, t types.Type, id field) {
	_, pointer := types.Unalias(t).(*types.Pointer)
	if slices.ContainsFunc(fn.Args, func(v Value) bool { return v.Options == o }) {
		r.add(id.at, "two parameters have the options %s", o.Go)
		return
	}
	for _, option := range o.fields {
		v := r.valueOf(r.info.Defs[option.id].Type())
		if v.Form == None {
			r.add(option.id.Pos(), "a value of type %s cannot come from Python: %s", r.typeText(v.Type), r.hint(v.Type, "take"))
			continue
		}
		at := field{option.id.Name, option.id.Pos()}
		p := r.param(fn, v, at)
		p.Name, p.Passing = r.paramName(at, fn), kernel.KeywordOnly
		v.Options, v.Field, v.OptionsPointer, v.id.at = o, option.id.Name, pointer, option.id.Pos()
		p.Optional = p.Optional || v.Form == Object || v.Form == Interface // nil is their zero value
		for _, w := range option.words {
			r.ask(&p, &v, w)
		}
		switch {
		case p.Default != nil:
		case o.Defaults != "":
			p.Default = kernel.DefaultByFunction()
		case p.Optional:
			p.Default = kernel.DefaultOf(nil)
		}
		fn.Args, fn.Decl.Params = append(fn.Args, v), append(fn.Decl.Params, p)
	}
}
