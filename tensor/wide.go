package tensor

import (
	"math/big"

	"godlpack/dlpack"
)

// The element types without Go numbers. Their memory layout is that of any little-endian machine.
type (
	// Int128 is a signed integer of 128 bits.
	Int128 struct {
		Lo uint64
		Hi int64
	}
	// UInt128 is an unsigned integer of 128 bits.
	UInt128 struct{ Lo, Hi uint64 }
	// Float128 is the bits of an IEEE 754 binary128.
	Float128 struct{ Lo, Hi uint64 }
	// Complex32 is a complex number of two halves.
	Complex32 struct{ Real, Imag Float16 }
)

// Int128From returns v.
func Int128From(v int64) Int128 { return Int128{uint64(v), v >> 63} }

// BigInt returns the value of x.
func (x Int128) BigInt() *big.Int { return x.scalar().BigInt() }

// String returns the value of x in decimal.
func (x Int128) String() string { return x.scalar().String() }

func (x Int128) scalar() Scalar { return Scalar{kind: KindInt, bits: word{x.Lo, uint64(x.Hi)}} }

// BigInt returns the value of x.
func (x UInt128) BigInt() *big.Int { return x.scalar().BigInt() }

// String returns the value of x in decimal.
func (x UInt128) String() string { return x.scalar().String() }

func (x UInt128) scalar() Scalar { return Scalar{kind: KindUInt, bits: word{x.Lo, x.Hi}} }

// Float128From returns v, which a Float128 always holds exactly.
func Float128From(v float64) Float128 {
	w := encodeQuad(v)
	return Float128{w[0], w[1]}
}

// String returns the shortest decimal that reads back as x.
func (x Float128) String() string { return quadText(word{x.Lo, x.Hi}) }

// Complex32From rounds both parts of v to the nearest Float16.
func Complex32From(v complex128) Complex32 {
	return Complex32{Float16From(real(v)), Float16From(imag(v))}
}

// Complex128 returns the exact value of x.
func (x Complex32) Complex128() complex128 { return complex(x.Real.Float64(), x.Imag.Float64()) }

// String returns the value of x in Python's notation: "(0.5+2j)".
func (x Complex32) String() string { return ComplexScalar(x.Complex128()).Format(dlpack.Complex32) }
