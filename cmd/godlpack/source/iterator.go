package source

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"godlpack/kernel"
)

// An Iterator is what a function yields that returns a sequence of values.
type Iterator struct {
	Start    string       // the function of package kernel that begins it
	Elements []types.Type // two for pairs
	Lists    []Value      // of its elements
	Prefetch int          // how many elements it is ahead

	results []kernel.Param // the declarations of the lists
}

// iteratorClass is the class of the iterators of all libraries.
// No type of an author has its name in Go.
var iteratorClass = &Class{Go: "0Iterator", Decl: kernel.Class{Name: kernel.IteratorClass}}

// IsIterator reports whether c is the class of iterators.
func (c *Class) IsIterator() bool { return c == iteratorClass }

// sequenceOf returns the types of the elements of an iter.Seq, an iter.Seq2 or a channel, and the function that begins it; nil
// for other types.
func sequenceOf(t types.Type) (start string, elements []types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Chan:
		if u.Dir() != types.SendOnly {
			return "Received", []types.Type{u.Elem()}
		}
	case *types.Signature:
		if u.Params().Len() == 1 && u.Results().Len() == 0 && !u.Variadic() {
			return yielded(u.Params().At(0).Type())
		}
	}
	return "", nil
}

// yielded is sequenceOf for a function that takes the function yield.
func yielded(yield types.Type) (start string, elements []types.Type) {
	u, ok := yield.Underlying().(*types.Signature)
	if !ok || u.Variadic() || !is(u, "", "(bool)") {
		return "", nil
	}
	for v := range u.Params().Variables() {
		elements = append(elements, v.Type())
	}
	switch {
	case len(elements) == 1:
		return "Values", elements
	case len(elements) == 2 && isError(elements[1]):
		return "ValuesOrError", elements[:1]
	case len(elements) == 2:
		return "Pairs", elements
	}
	return "", nil
}

// iterator reads a result that is a sequence; false if t is none.
func (r *reader) iterator(fn *Func, t types.Type, id field) bool {
	start, elements := sequenceOf(t)
	if elements == nil {
		return false
	}
	fn.Iterator = &Iterator{Start: start, Elements: elements, Prefetch: 1}
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
	case fn.Decl.Role != kernel.FreeFunction && fn.Decl.Role != kernel.Method && fn.Decl.Role != kernel.Static:
		r.add(fn.at, "an attribute cannot be an iterator: export a method")
	case len(fn.Results) > 1:
		r.add(fn.at, "an iterator is the only result, but for an error")
	}
	r.checkLater(fn, "an iterator goes on")
	if slices.ContainsFunc(fn.Iterator.Lists, Value.holdsTensor) {
		r.refuseReserved(fn)
	}
}

// checkLater refuses parameters of a function whose code runs when the call has ended.
func (r *reader) checkLater(fn *Func, what string) {
	if fn.Context {
		r.add(fn.at, "a *kernel.Ctx ends with the call, and %s: take a context.Context, which is cancelled when Python needs the result no more", what)
	}
	for i, v := range fn.Args {
		if v.Form == List {
			id := v.id
			v = *v.Items
			v.id = id
		}
		r.checkExclusive(v, v.id.at)
		if v.Form == Callable || v.Form == Sequence || v.Form == Mut || v.Form == DeviceOf || v.Form == DeviceMut {
			r.add(v.id.at, "%s ends with the call, and %s: take a tensor.Of, which is copied, a slice or a value", fn.Decl.Params[i].Name, what)
		}
	}
	if fn.Class != nil && fn.Decl.Role == kernel.Method {
		r.checkExclusive(Value{Classes: []*Class{fn.Class}}, fn.at)
	}
}

// checkExclusive refuses objects that have one call at a time: an iterator would use them between calls.
func (r *reader) checkExclusive(v Value, at token.Pos) {
	if i := slices.IndexFunc(v.Classes, func(c *Class) bool { return c.Decl.Exclusive }); i >= 0 {
		r.add(at, "%s is exclusive, and an iterator or an async function would use it between calls: return a slice, or remove async", v.Classes[i].Go)
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
		case count(marks, "prefetch") > 1:
			r.add(d.at, "want prefetch at most once for each function")
		case err != nil || n < 0 || n > 1<<20:
			r.add(d.at, "%q: want %s, with a number from 0 to %d", restOf(d), usage("prefetch"), 1<<20)
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
		{Name: "batches", Kind: kernel.KindInt, Bits: 64},
	}
	next.Decl = &kernel.Func{Name: fn.Decl.Name, Class: fn.Decl.Class, Role: kernel.Next, Params: params, Results: fn.Iterator.results, Like: fn.Decl.Like}
	return next
}
