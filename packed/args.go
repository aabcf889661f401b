package packed

import (
	"unsafe"

	"godlpack/dlpack"
)

// Checked is the flag of a tensor that the host has validated, so that no second validation is needed. It is not DLPack's:
// records never contain it.
const Checked dlpack.Flags = 1 << 32

// Args are the arguments of a call: as many codes as values, in arrays that they borrow. They are four words, which Go passes
// in registers.
type Args struct {
	values *Value
	codes  *Code
	flags  *dlpack.Flags // those of the tensors, one for each argument; nil if unknown
	n      int
}

// View returns n arguments in C arrays at the given addresses; flags may be NULL.
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

// FlagsAt returns the flags of tensor i, 0 if unknown.
func (a Args) FlagsAt(i int) dlpack.Flags {
	if a.flags == nil {
		return 0
	}
	return unsafe.Slice(a.flags, a.n)[i]
}

// Plain returns the record of argument i if that is a tensor whose only flag in the mask is Checked; nil otherwise. It is a
// call's first check of nearly all its arguments, with a single check of the bounds.
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

// Arrays returns the arrays of values and codes, for C.
func (a Args) Arrays() (*Value, *Code) { return a.values, a.codes }

// Ret is the place of a call's result: two cells of C.
type Ret struct {
	Value *Value
	Code  *Code
}

// Set puts c into the cells.
func (r *Ret) Set(c Cell) { *r.Value, *r.Code = c.Value, c.Code }

// Get returns the contents of the cells.
func (r *Ret) Get() Cell { return Cell{*r.Value, *r.Code} }
