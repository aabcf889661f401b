package tensor

import "godlpack/dlpack"

// The element types that Go lacks. Each holds the bits of one value; Float64 and Float32 return its exact value, XFrom rounds
// to the nearest (ties to even) in one step, and String formats it as Scalar.Format does.
type (
	// Float16 is the IEEE 754 half: 1 sign, 5 exponent and 10 mantissa bits. Largest 65504; overflow is infinity.
	Float16 uint16
	// BFloat16 is the upper half of a float32: 1 sign, 8 exponent and 7 mantissa bits. Overflow is infinity.
	BFloat16 uint16
	// Float8E3M4 is IEEE-like with 3 exponent bits. Largest 15.5; overflow is infinity.
	Float8E3M4 uint8
	// Float8E4M3 is IEEE-like with 4 exponent bits. Largest 240; overflow is infinity.
	Float8E4M3 uint8
	// Float8E4M3B11FNUZ has an exponent bias of 11, no infinity and one zero. Largest 30; overflow is NaN.
	Float8E4M3B11FNUZ uint8
	// Float8E4M3FN is OFP8 E4M3: no infinity. Largest 448; overflow is NaN.
	Float8E4M3FN uint8
	// Float8E4M3FNUZ has an exponent bias of 8, no infinity and one zero. Largest 240; overflow is NaN.
	Float8E4M3FNUZ uint8
	// Float8E5M2 is OFP8 E5M2, IEEE-like. Largest 57344; overflow is infinity.
	Float8E5M2 uint8
	// Float8E5M2FNUZ has an exponent bias of 16, no infinity and one zero. Largest 57344; overflow is NaN.
	Float8E5M2FNUZ uint8
	// Float8E8M0FNU is the scale of the OCP MX formats: a power of two from 2**-127 to 2**127, or NaN; no sign, no zero.
	Float8E8M0FNU uint8
	// Float6E2M3FN is OCP MX FP6 in the low 6 bits. Largest 7.5; overflow saturates, there is no NaN.
	Float6E2M3FN uint8
	// Float6E3M2FN is OCP MX FP6 in the low 6 bits. Largest 28; overflow saturates, there is no NaN.
	Float6E3M2FN uint8
	// Float4E2M1FN is OCP MX FP4 in the low 4 bits. Largest 6; overflow saturates, there is no NaN.
	Float4E2M1FN uint8
)

// Float16From rounds v to the nearest Float16.
func Float16From(v float64) Float16 { return Float16(f16.encode(v)) }

// Float64 returns the exact value of x.
func (x Float16) Float64() float64 { return f16.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float16) Float32() float32 { return float32(x.Float64()) }

// String returns the shortest decimal that reads back as x.
func (x Float16) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float16) }

// BFloat16From rounds v to the nearest BFloat16.
func BFloat16From(v float64) BFloat16 { return BFloat16(bf16.encode(v)) }

// Float64 returns the exact value of x.
func (x BFloat16) Float64() float64 { return bf16.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x BFloat16) Float32() float32 { return float32(x.Float64()) }

// String returns the shortest decimal that reads back as x.
func (x BFloat16) String() string { return FloatScalar(x.Float64()).Format(dlpack.BFloat16) }

// Float8E3M4From rounds v to the nearest Float8E3M4.
func Float8E3M4From(v float64) Float8E3M4 { return Float8E3M4(e3m4.encode(v)) }

// Float64 returns the exact value of x.
func (x Float8E3M4) Float64() float64 { return e3m4.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float8E3M4) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float8E3M4) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float8E3M4) }

// Float8E4M3From rounds v to the nearest Float8E4M3.
func Float8E4M3From(v float64) Float8E4M3 { return Float8E4M3(e4m3.encode(v)) }

// Float64 returns the exact value of x.
func (x Float8E4M3) Float64() float64 { return e4m3.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float8E4M3) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float8E4M3) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float8E4M3) }

// Float8E4M3B11FNUZFrom rounds v to the nearest Float8E4M3B11FNUZ.
func Float8E4M3B11FNUZFrom(v float64) Float8E4M3B11FNUZ {
	return Float8E4M3B11FNUZ(e4m3b11fnuz.encode(v))
}

// Float64 returns the exact value of x.
func (x Float8E4M3B11FNUZ) Float64() float64 { return e4m3b11fnuz.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float8E4M3B11FNUZ) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float8E4M3B11FNUZ) String() string {
	return FloatScalar(x.Float64()).Format(dlpack.Float8E4M3B11FNUZ)
}

// Float8E4M3FNFrom rounds v to the nearest Float8E4M3FN.
func Float8E4M3FNFrom(v float64) Float8E4M3FN { return Float8E4M3FN(e4m3fn.encode(v)) }

// Float64 returns the exact value of x.
func (x Float8E4M3FN) Float64() float64 { return e4m3fn.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float8E4M3FN) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float8E4M3FN) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float8E4M3FN) }

// Float8E4M3FNUZFrom rounds v to the nearest Float8E4M3FNUZ.
func Float8E4M3FNUZFrom(v float64) Float8E4M3FNUZ { return Float8E4M3FNUZ(e4m3fnuz.encode(v)) }

// Float64 returns the exact value of x.
func (x Float8E4M3FNUZ) Float64() float64 { return e4m3fnuz.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float8E4M3FNUZ) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float8E4M3FNUZ) String() string {
	return FloatScalar(x.Float64()).Format(dlpack.Float8E4M3FNUZ)
}

// Float8E5M2From rounds v to the nearest Float8E5M2.
func Float8E5M2From(v float64) Float8E5M2 { return Float8E5M2(e5m2.encode(v)) }

// Float64 returns the exact value of x.
func (x Float8E5M2) Float64() float64 { return e5m2.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float8E5M2) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float8E5M2) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float8E5M2) }

// Float8E5M2FNUZFrom rounds v to the nearest Float8E5M2FNUZ.
func Float8E5M2FNUZFrom(v float64) Float8E5M2FNUZ { return Float8E5M2FNUZ(e5m2fnuz.encode(v)) }

// Float64 returns the exact value of x.
func (x Float8E5M2FNUZ) Float64() float64 { return e5m2fnuz.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float8E5M2FNUZ) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float8E5M2FNUZ) String() string {
	return FloatScalar(x.Float64()).Format(dlpack.Float8E5M2FNUZ)
}

// Float8E8M0FNUFrom rounds v to the nearest Float8E8M0FNU.
func Float8E8M0FNUFrom(v float64) Float8E8M0FNU { return Float8E8M0FNU(encodeE8M0(v)) }

// Float64 returns the exact value of x.
func (x Float8E8M0FNU) Float64() float64 { return decodeE8M0(uint8(x)) }

// Float32 returns the exact value of x.
func (x Float8E8M0FNU) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float8E8M0FNU) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float8E8M0FNU) }

// Float6E2M3FNFrom rounds v to the nearest Float6E2M3FN.
func Float6E2M3FNFrom(v float64) Float6E2M3FN { return Float6E2M3FN(e2m3fn.encode(v)) }

// Float64 returns the exact value of x.
func (x Float6E2M3FN) Float64() float64 { return e2m3fn.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float6E2M3FN) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float6E2M3FN) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float6E2M3FN) }

// Float6E3M2FNFrom rounds v to the nearest Float6E3M2FN.
func Float6E3M2FNFrom(v float64) Float6E3M2FN { return Float6E3M2FN(e3m2fn.encode(v)) }

// Float64 returns the exact value of x.
func (x Float6E3M2FN) Float64() float64 { return e3m2fn.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float6E3M2FN) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float6E3M2FN) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float6E3M2FN) }

// Float4E2M1FNFrom rounds v to the nearest Float4E2M1FN.
func Float4E2M1FNFrom(v float64) Float4E2M1FN { return Float4E2M1FN(e2m1fn.encode(v)) }

// Float64 returns the exact value of x.
func (x Float4E2M1FN) Float64() float64 { return e2m1fn.decode(uint16(x)) }

// Float32 returns the exact value of x.
func (x Float4E2M1FN) Float32() float32 { return float32(x.Float64()) }

// String returns the value of x in decimal.
func (x Float4E2M1FN) String() string { return FloatScalar(x.Float64()).Format(dlpack.Float4E2M1FN) }
