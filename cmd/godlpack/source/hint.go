package source

import (
	"fmt"
	"go/types"
)

// possible lists the types that can be exchanged with Python.
const possible = "use bool, numbers, string, []byte, time.Time, time.Duration, *big.Int, any, slices, arrays, maps and structs of these, " +
	"dlpack.DType, dlpack.Device, kernel.Callable, tensor.Of[T], Mut[T], DeviceOf[T] and DeviceMut[T], slices of tensors, " +
	"or a pointer to any of them for a value that may be None"

// instead maps common types that cannot be exchanged to hints on what to take, and what to return.
var instead = map[string]struct{ take, give string }{
	"godlpack/dlpack.Tensor": {"take a tensor.Of[T]", "return a tensor.Of[T]"},
	"godlpack/kernel.Ctx":    {"*kernel.Ctx must be the first parameter", "*kernel.Ctx must be the first parameter"},
	"godlpack/kernel.Callable": {
		"take a kernel.Callable, or a *kernel.Callable, which is nil for None", "it is valid only until the call ends: return its result instead",
	},
	"context.Context": {
		"context.Context must be the first parameter",
		"return a result or an error",
	},
	"iter.Seq":       {"take it without a pointer, of values that Python has", "return it alone, but for an error"},
	"iter.Seq2":      {"take an iter.Seq of structs, or an iter.Seq2[T, error]", "return it alone, but for an error"},
	"math/big.Float": {"take a string, and convert it with SetString", "return its String()"},
	"io.Reader":      {"take a []byte, or the name of a file", "return a []byte"},
	"io.Writer":      {"take the name of a file, or return a []byte", "return a []byte"},
	"image.Image":    {"take a tensor.Of[uint8] of shape [height,width,4]", "return a tensor.Of[uint8] of shape [height,width,4]"},
}

// hint returns what to write instead of a type that cannot be exchanged. The verb is take or return.
func hint(t types.Type, verb string) string {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok && valueOf(pointer.Elem()).Form == None {
		t = pointer.Elem()
	}
	if name, _ := nameOf(t); name != "" {
		if text, ok := instead[name]; ok {
			return pick(verb, text.take, text.give)
		}
	}
	if isError(t) {
		return pick(verb, "take a string: errors go only from Go to Python, as the last result", "an error must be the last result")
	}
	if isTypeParam(t) {
		return pick(verb, "take a float64 or an int64", "return a float64 or an int64") +
			": a type parameter can be the type of a number only if its constraint allows nothing but floats; else use it for tensors, tensor.Of[" + t.String() + "]"
	}
	return hintOfKind(t, verb)
}

func pick(verb, take, give string) string {
	if verb == "take" {
		return take
	}
	return give
}

func hintOfKind(t types.Type, verb string) string {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return verb + " a struct whose exported fields Python has, or export the type and " + verb + " a pointer to it"
	case *types.Signature:
		return pick(verb, "take a kernel.Callable, or a *kernel.Callable, which is nil for None", "export a function that does the same: Python cannot call a returned Go function")
	case *types.Map:
		return verb + " a map with keys of strings, integers or bools, and values that Python has"
	case *types.Chan:
		return pick(verb, "take a slice, or an iter.Seq", "return a slice of the values, or call a kernel.Callable for each value")
	case *types.Interface:
		return verb + " a string, or write one function for each type: " + possible
	case *types.Pointer:
		return verb + " at most one pointer, which is nil for None"
	case *types.Array:
		return hintOfArray(u, verb)
	case *types.Slice:
		return hintOfSlice(u, verb)
	case *types.Basic:
		return hintOfBasic(u, verb)
	}
	return possible
}

func hintOfArray(t *types.Array, verb string) string {
	if form, _ := listForm(t.Elem()); form == None {
		return "of its elements: " + hint(t.Elem(), verb)
	}
	elem := types.TypeString(t.Elem(), func(p *types.Package) string { return p.Name() })
	text := fmt.Sprintf("%s a slice, []%s", verb, elem)
	if _, ok := elementOf(t.Elem()); ok {
		text += fmt.Sprintf(", or a tensor.Of[%s] by //godlpack:%s shape=[%d]", elem, pick(verb, "arg NAME", "result"), t.Len())
	}
	return text
}

// hintOfSlice returns the hint for a slice of elements that cannot be exchanged: a slice of slices is better a tensor.
func hintOfSlice(t *types.Slice, verb string) string {
	inner, ok := t.Elem().Underlying().(*types.Slice)
	if !ok {
		inner = t
	}
	if ok && types.Identical(inner.Elem(), types.Typ[types.Byte]) {
		return verb + " a []string, or a []tensor.Of[uint8]"
	}
	if _, named := elementOf(inner.Elem()); named {
		axes := "n"
		if ok {
			axes = "n,m"
		}
		elem := types.TypeString(inner.Elem(), func(p *types.Package) string { return p.Name() })
		return fmt.Sprintf("%s a tensor.Of[%s] by //godlpack:%s shape=[%s]", verb, elem, pick(verb, "arg NAME", "result"), axes)
	}
	if isSlice(inner.Elem()) { // also of itself
		return possible
	}
	switch elem := valueOf(inner.Elem()); {
	case elem.Pointer:
		return "elements of slices cannot be None: " + verb + " one without the pointer"
	case elem.Form != None:
		return possible
	}
	return "of its elements: " + hint(inner.Elem(), verb)
}

func hintOfBasic(t *types.Basic, verb string) string {
	switch {
	case t.Info()&types.IsComplex != 0:
		return verb + " two float64, or a tensor of one element"
	case t.Kind() == types.UnsafePointer, t.Kind() == types.Uintptr:
		return verb + pick(verb, " a tensor, which refers to the caller's memory, or a uint64 for an address",
			" a tensor, which refers to the caller's memory, or a uint64 for an address")
	}
	return possible
}
