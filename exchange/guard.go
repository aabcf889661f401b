package exchange

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// A guard is a question that torch's own __dlpack__ asks, or should ask, and its table does not (R65): a yes means that
// the memory is not what the tensor's owner sees.
type guard struct{ attribute, refusal string }

var guards = []guard{
	{"requires_grad", "the tensor requires grad, and autograd would not see what is done to it; use .detach()"},
	{"is_conj", "the tensor is a lazy conjugate: its memory holds other values; use .resolve_conj()"},
	{"is_neg", "the tensor is a lazy negative: its memory holds other values; use .resolve_neg()"},
}

// guarded reports whether objects of a type must be asked: whether they can answer.
func guarded(typ cpython.Object) bool {
	for _, g := range guards {
		if !typ.Has(g.attribute) {
			return false
		}
	}
	return true
}

// inspect refuses an object of a guarded type that answers yes to one of the questions, with a BufferError. A question that
// the object forbids, as torch's read-only wrapper forbids all, is left to its own table or __dlpack__ (R63).
func inspect(x cpython.Object, questions []guard) error {
	for _, g := range questions {
		yes, err := answer(x, g.attribute)
		if err != nil {
			cpython.ClearError()
			continue
		}
		if yes {
			return dlpack.Errorf(dlpack.KindBuffer, "%s: %s", x.Type().Name(), g.refusal)
		}
	}
	return nil
}

// questions are those that a request asks: who only reads, or has switched torch's gradients off, may see tensors that
// require them.
func (r Request) questions() []guard {
	if r.Reads || r.Writes && !gradients() {
		return guards[1:]
	}
	return guards
}

// gradients reports whether torch records what is done to tensors.
func gradients() bool {
	enabled, err := cpython.Imported("torch").CallIn("is_grad_enabled")
	if err != nil {
		cpython.ClearError()
		return true
	}
	defer enabled.Release()
	yes, err := enabled.Truth()
	return yes || err != nil
}

// answer returns the truth of an attribute, or of what it returns if it is a method.
func answer(x cpython.Object, attribute string) (bool, error) {
	a, err := x.Attr(attribute)
	if err != nil {
		return false, err
	}
	defer a.Release()
	if !a.IsCallable() {
		return a.Truth()
	}
	result, err := a.Call(nil)
	if err != nil {
		return false, err
	}
	defer result.Release()
	return result.Truth()
}
