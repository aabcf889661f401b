package source

import (
	"go/types"
	"slices"
	"strconv"

	"godlpack/kernel"
)

// An Iterator is what a function yields that returns a sequence of values.
type Iterator struct {
	Start    string  // the function of package kernel that begins it
	Lists    []Value // of its elements; two for pairs
	Prefetch int     // how many elements it is ahead

	results []kernel.Param // the declarations of the lists
}

// iteratorClass is the class of the iterators of all libraries.
var iteratorClass = &Class{Go: kernel.IteratorClass, Decl: kernel.Class{Name: kernel.IteratorClass}}

// IsIterator reports whether c is the class of iterators, which package kernel has.
func (c *Class) IsIterator() bool { return c == iteratorClass }

// sequenceOf returns the types of the elements of an iter.Seq, an iter.Seq2 or a channel, and the function that begins it; nil
// for other types.
func sequenceOf(t types.Type) (start string, elements []types.Type) {
	name, arguments := nameOf(t)
	switch {
	case name == "iter.Seq":
		return "Values", []types.Type{arguments.At(0)}
	case name == "iter.Seq2" && isError(arguments.At(1)):
		return "ValuesOrError", []types.Type{arguments.At(0)}
	case name == "iter.Seq2":
		return "Pairs", []types.Type{arguments.At(0), arguments.At(1)}
	}
	if channel, ok := t.Underlying().(*types.Chan); ok && channel.Dir() != types.SendOnly {
		return "Received", []types.Type{channel.Elem()}
	}
	return "", nil
}

// iterator reads a result that is a sequence; false if t is none.
func (r *reader) iterator(fn *Func, t types.Type, id field) bool {
	start, elements := sequenceOf(t)
	if elements == nil {
		return false
	}
	fn.Iterator = &Iterator{Start: start, Prefetch: 1}
	for _, e := range elements {
		v, list := r.valueOf(e), r.valueOf(types.NewSlice(e))
		if v.Form == None || list.Form == None {
			r.add(id.at, "an iterator over values of type %s cannot go to Python: %s", r.typeText(e), r.hint(e, "yield"))
			return true
		}
		v.id, list.id = id, id
		p := r.param(fn, v, id)
		p.Mutable = false
		fn.Iterator.Lists, fn.Decl.Yields = append(fn.Iterator.Lists, list), append(fn.Decl.Yields, p)
		p = r.param(fn, list, id)
		if p.Elem != nil { // its dtype is that of an argument of fn, not of the function that takes the elements
			p.Elem.Mutable, p.Elem.Var = false, ""
		}
		fn.Iterator.results = append(fn.Iterator.results, p)
	}
	v := Value{Form: Object, Type: t, Classes: []*Class{iteratorClass}}
	fn.Results, fn.Decl.Results = append(fn.Results, v), append(fn.Decl.Results, kernel.Param{Kind: kernel.KindObject, Classes: v.classNames()})
	return true
}

// checkIterator refuses what a function that returns an iterator cannot have: its code runs on when the call has ended.
func (r *reader) checkIterator(fn *Func) {
	if fn.Iterator == nil {
		return
	}
	switch {
	case fn.Context:
		r.add(fn.at, "a *kernel.Ctx ends with the call, and an iterator goes on: take a context.Context, which is cancelled when Python drops the iterator")
	case fn.Decl.Role != kernel.FreeFunction && fn.Decl.Role != kernel.Method && fn.Decl.Role != kernel.Static:
		r.add(fn.at, "an attribute cannot be an iterator: export a method")
	case len(fn.Results) > 1:
		r.add(fn.at, "an iterator is the only result, but for an error")
	case fn.Class != nil && fn.Class.Decl.Exclusive:
		r.add(fn.at, "%s is exclusive, and an iterator would use it between calls: return a slice", fn.Class.Go)
	}
	for i, v := range fn.Args {
		if v.Form == List {
			v = *v.Items
		}
		if v.Form == Callable || v.Form == Mut || v.Form == DeviceOf || v.Form == DeviceMut {
			r.add(v.id.at, "%s ends with the call, and an iterator goes on: take a tensor.Of, which is copied, or a value", fn.Decl.Params[i].Name)
		}
	}
	if slices.ContainsFunc(fn.Iterator.Lists, Value.holdsTensor) {
		r.refuseReserved(fn)
	}
}

// prefetch applies the //godlpack:prefetch directive.
func (r *reader) prefetch(fn *Func, marks []directive) {
	for _, d := range marks {
		if d.verb != "prefetch" {
			continue
		}
		n, err := strconv.Atoi(restOf(d))
		switch {
		case err != nil || n < 0 || n > 1<<20:
			r.add(d.at, "want %s, with a number from 0 to %d", usage("prefetch"), 1<<20)
		case fn.Iterator == nil:
			r.add(d.at, "prefetch is for functions that return an iterator")
		default:
			fn.Iterator.Prefetch = n
		}
	}
}

// Next returns the function by which Python takes the elements of fn's iterator.
func (fn *Func) Next() *Func {
	next := &Func{Class: fn.Class, at: fn.at, Fails: true, Results: fn.Iterator.Lists}
	next.Args = []Value{{Form: Object, Classes: []*Class{iteratorClass}}, {Form: Int, Type: types.Typ[types.Int]}}
	params := []kernel.Param{
		{Name: "iterator", Kind: kernel.KindObject, Classes: []string{kernel.IteratorClass}},
		{Name: "most", Kind: kernel.KindInt, Bits: 64},
	}
	next.Decl = &kernel.Func{Name: fn.Decl.Name, Class: fn.Decl.Class, Role: kernel.Next, Params: params, Results: fn.Iterator.results, Like: fn.Decl.Like}
	return next
}
