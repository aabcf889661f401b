package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// Checked is the flag beside a tensor that obeys DLPack's rules for sure, so that it need not be validated again. It is
// not DLPack's: records never carry it.
const Checked dlpack.Flags = 1 << 32

// Args are the arguments of a call: as many codes as values. Flags are those of the tensors among them, one for each
// argument, or nil where nothing is known.
type Args struct {
	Values []Value
	Codes  []Code
	Flags  []dlpack.Flags
}

// View returns n arguments in the arrays of C that the pointers lead to; flags may be NULL. The Args borrow them.
func View(values, codes, flags unsafe.Pointer, n int) Args {
	a := Args{Values: unsafe.Slice((*Value)(values), n), Codes: unsafe.Slice((*Code)(codes), n)}
	if flags != nil {
		a.Flags = unsafe.Slice((*dlpack.Flags)(flags), n)
	}
	return a
}

// Len returns the number of arguments.
func (a Args) Len() int { return len(a.Values) }

// At returns argument i.
func (a Args) At(i int) Cell { return Cell{a.Values[i], a.Codes[i]} }

// FlagsAt returns what is known of tensor i.
func (a Args) FlagsAt(i int) dlpack.Flags {
	if a.Flags == nil {
		return 0
	}
	return a.Flags[i]
}

// Ret is the place of a call's result: two cells of C.
type Ret struct {
	Value *Value
	Code  *Code
}

// Set puts c into the cells.
func (r *Ret) Set(c Cell) { *r.Value, *r.Code = c.Value, c.Code }

// Get returns what is in the cells.
func (r *Ret) Get() Cell { return Cell{*r.Value, *r.Code} }
