package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// Checked is the flag beside a tensor that obeys DLPack's rules for sure, so that it need not be validated again. It is
// not DLPack's: records never carry it.
const Checked dlpack.Flags = 1 << 32

// Args are the arguments of a call: as many codes as values, in arrays that they borrow. They are four words, which Go hands
// on in registers.
type Args struct {
	values *Value
	codes  *Code
	flags  *dlpack.Flags // those of the tensors, one for each argument; nil where nothing is known
	n      int
}

// View returns n arguments in the arrays of C that the pointers lead to; flags may be NULL.
func View(values, codes, flags unsafe.Pointer, n int) Args {
	return Args{(*Value)(values), (*Code)(codes), (*dlpack.Flags)(flags), n}
}

// Slices returns the arguments in slices of one length; flags may be nil.
func Slices(values []Value, codes []Code, flags []dlpack.Flags) Args {
	n := len(values)
	if len(codes) != n || flags != nil && len(flags) != n {
		panic("packed: values, codes and flags of different lengths")
	}
	return Args{unsafe.SliceData(values), unsafe.SliceData(codes), unsafe.SliceData(flags), n}
}

// Len returns the number of arguments.
func (a Args) Len() int { return a.n }

// At returns argument i.
func (a Args) At(i int) Cell { return Cell{a.Value(i), a.Code(i)} }

// Value returns the value of argument i.
func (a Args) Value(i int) Value { return unsafe.Slice(a.values, a.n)[i] }

// Code returns the code of argument i.
func (a Args) Code(i int) Code { return unsafe.Slice(a.codes, a.n)[i] }

// FlagsAt returns what is known of tensor i.
func (a Args) FlagsAt(i int) dlpack.Flags {
	if a.flags == nil {
		return 0
	}
	return unsafe.Slice(a.flags, a.n)[i]
}

// Plain returns the record of argument i if that is a tensor, and Checked the only flag of the mask that it has; nil if not.
// It is what a call asks first of nearly all its arguments: with one look at the bounds.
func (a Args) Plain(i int, mask dlpack.Flags) *dlpack.Tensor {
	if uint(i) >= uint(a.n) || a.flags == nil {
		return nil
	}
	at := uintptr(i)
	code := *(*Code)(unsafe.Add(unsafe.Pointer(a.codes), at*unsafe.Sizeof(*a.codes)))
	flags := *(*dlpack.Flags)(unsafe.Add(unsafe.Pointer(a.flags), at*unsafe.Sizeof(*a.flags)))
	if code != CodeTensor || flags&mask != Checked {
		return nil
	}
	return (*Value)(unsafe.Add(unsafe.Pointer(a.values), at*unsafe.Sizeof(*a.values))).Tensor()
}

// Arrays returns where values and codes lie, for C.
func (a Args) Arrays() (*Value, *Code) { return a.values, a.codes }

// Ret is the place of a call's result: two cells of C.
type Ret struct {
	Value *Value
	Code  *Code
}

// Set puts c into the cells.
func (r *Ret) Set(c Cell) { *r.Value, *r.Code = c.Value, c.Code }

// Get returns what is in the cells.
func (r *Ret) Get() Cell { return Cell{*r.Value, *r.Code} }
