package source

import (
	"go/types"

	"godlpack/kernel"
)

// sequenceClass is the class of what Python's iterables give their elements to, which package kernel has. No type of an author
// has its name in Go.
var sequenceClass = &Class{Go: "0Sequence", Decl: kernel.Class{Name: kernel.SequenceClass}}

// IsSequence reports whether c is the class of sequences.
func (c *Class) IsSequence() bool { return c == sequenceClass }

// sequence reads a parameter that is an iter.Seq[T] or an iter.Seq2[T, error]; ok is false for others.
func (r *reader) sequence(fn *Func, t types.Type, id field) (v Value, p kernel.Param, ok bool) {
	start, elements := sequenceOf(t)
	if start != "Values" && start != "ValuesOrError" {
		return v, p, false
	}
	each, list := r.valueOf(elements[0]), r.valueOf(types.NewSlice(elements[0]))
	v = Value{Form: Sequence, Type: t, Element: elements[0], Items: &list, id: id}
	switch {
	case each.Form == None || list.Form == None || each.Form == Mut:
		r.add(id.at, "an iterable of values of type %s cannot come from Python: %s", r.typeText(elements[0]), r.hint(elements[0], "take"))
		v.Form = None
	case list.Form == Bytes:
		r.add(id.at, "an iterable of bytes: take a []byte")
		v.Form = None
	case isTypeParam(each.Type) || each.Element != nil && isTypeParam(each.Element):
		r.add(id.at, "an iterable of values of a type parameter cannot come from Python: take a slice, or a sequence of one type")
		v.Form = None
	default:
		list.id = id
		elements := r.param(fn, each, id)
		p = kernel.Param{Kind: kernel.KindCallable, Each: &elements}
	}
	return v, p, true
}

// OrError reports whether the function is told of the iterable's exceptions.
func (v Value) OrError() bool {
	start, _ := sequenceOf(v.Type)
	return start == "ValuesOrError"
}

// Feed returns the function by which Python gives the elements of argument i, an iterable.
func (fn *Func) Feed(i int) *Func {
	feed := &Func{Class: fn.Class, at: fn.at, Fails: true, Args: []Value{{Form: Object, Classes: []*Class{sequenceClass}}, *fn.Args[i].Items}}
	params := []kernel.Param{
		{Name: "into", Kind: kernel.KindObject, Classes: []string{kernel.SequenceClass}},
		fn.Batch(i),
	}
	if params[1].Name == "into" {
		params[0].Name = "sequence"
	}
	feed.Decl = &kernel.Func{Name: fn.Decl.Name, Class: fn.Decl.Class, Role: kernel.Feed, Params: params}
	return feed
}

// Batch returns the declaration of a list of elements of argument i, an iterable.
func (fn *Func) Batch(i int) kernel.Param {
	v, each := fn.Args[i].Items, *fn.Decl.Params[i].Each
	p := kernel.Param{Name: fn.Decl.Params[i].Name, Kind: kinds[v.Form], Type: v.Schema, Classes: v.classNames()}
	if v.Form == List {
		p.Elem = &each
	}
	return p
}
