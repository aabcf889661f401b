package exchange

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// A guard is a property that torch's own __dlpack__ checks, or should check, and its table does not (R65): if it is true, the
// tensor must not be shared.
type guard struct{ attribute, refusal string }

var guards = []guard{
	{"requires_grad", "the tensor requires grad, and autograd would not record operations on it; use .detach()"},
	{"is_conj", "the tensor is a lazy conjugate: its memory holds the values before conjugation; use .resolve_conj()"},
	{"is_neg", "the tensor is a lazy negative: its memory holds the values before negation; use .resolve_neg()"},
}

// guarded reports whether objects of a type must be inspected: whether the type has the attributes of all guards.
func guarded(typ cpython.Object) bool {
	for _, g := range guards {
		if !typ.Has(g.attribute) {
			return false
		}
	}
	return true
}

// inspect refuses, with a BufferError, an object of a guarded type for which a guard is true. A guard that raises an
// exception, as all do for torch's read-only wrapper, is left to the type's own table or __dlpack__ (R63).
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

// questions returns the guards that apply to a request: one that only reads, or that writes while torch's gradients are off,
// may use tensors that require them.
func (r Request) questions() []guard {
	if r.Reads || r.Writes && !gradients() {
		return guards[1:]
	}
	return guards
}

// gradients reports whether torch records operations on tensors for autograd.
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

// answer returns the truth value of an attribute, or of its result if it is a method.
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
