package tensor

import (
	"math"
	"sync"
	"unsafe"

	"godlpack/dlpack"
)

// The parts of a float32.
const (
	singleMantissa = 23
	singleBias     = 127
	singleInf      = 0x7f800000
)

// A rounding converts float32s to one small format as format.encode does, by integer arithmetic on their bits.
type rounding struct {
	format *format
	shift  uint32  // excess mantissa bits
	rebias uint32  // difference of the biases, shifted to the exponent
	normal uint32  // the smallest normal magnitude of the format
	limit  uint32  // the smallest magnitude that rounds beyond the largest finite one
	magic  float32 // float32's step at this value is the format's smallest subnormal
	sign   uint32  // the right shift of the sign bit
	nans   bool    // keep the upper bits of a NaN's mantissa, as numpy does in float16
}

func newRounding(f *format) *rounding {
	r := &rounding{format: f, shift: uint32(singleMantissa - f.mantissa), rebias: uint32(singleBias-f.bias) << singleMantissa}
	if r.rebias != 0 { // bfloat16 has float32's exponents: its subnormals round like all others
		r.normal = r.rebias + 1<<singleMantissa
	}
	// Half a step above the largest value; if that has an odd code, the tie rounds up already.
	r.limit = uint32(f.max)<<r.shift + r.rebias + 1<<(r.shift-1) + uint32(1-f.max&1)
	r.magic = float32(math.Ldexp(f.tiny, singleMantissa))
	for uint32(f.sign) != 1<<31>>r.sign {
		r.sign++
	}
	return r
}

// The roundings of all formats: float16 by NumPy's rules and by ml_dtypes', bfloat16, and those of 8 bits and less by their
// type code.
var (
	roundingNumpy = newRounding(&f16).keepingNaNs()
	roundingHalf  = newRounding(&f16)
	roundingBF16  = newRounding(&bf16)
	roundings8    = newRoundings()
)

func (r *rounding) keepingNaNs() *rounding {
	r.nans = true
	return r
}

func newRoundings() (all [len(formats)]*rounding) {
	for code, f := range formats {
		if f != nil {
			all[code] = newRounding(f)
		}
	}
	return all
}

func (r *rounding) stage8(dst, src unsafe.Pointer, n int64)  { roundAll[uint8](*r, dst, src, n) }
func (r *rounding) stage16(dst, src unsafe.Pointer, n int64) { roundAll[uint16](*r, dst, src, n) }

// roundAll is the loop for all formats. It handles normal values itself; the others are rare.
func roundAll[D uint8 | uint16](r rounding, dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[D](dst, n), cellsAt[uint32](src, n)
	shift, half, span := r.shift&31, uint32(1)<<(r.shift-1)-1-r.rebias, r.limit-r.normal
	for i, v := range from {
		magnitude, sign := v&^(1<<31), v>>31<<31>>(r.sign&31)
		if magnitude-r.normal < span {
			to[i] = D((magnitude+half+magnitude>>shift&1)>>shift | sign)
		} else {
			to[i] = D(r.edge(magnitude, sign))
		}
	}
}

// edge encodes magnitudes that are not normal values of the format.
func (r *rounding) edge(magnitude, sign uint32) uint32 {
	code := uint32(r.format.inf)
	switch {
	case magnitude < r.normal:
		code = math.Float32bits(math.Float32frombits(magnitude)+r.magic) - math.Float32bits(r.magic)
	case magnitude > singleInf && r.nans:
		code = uint32(nanHalf(uint16(magnitude >> 13)))
	case magnitude > singleInf:
		code = uint32(r.format.nan)
	}
	if r.format.fnuz && (code == 0 || code == uint32(r.format.nan)) {
		return code
	}
	return code ^ sign // not or: NaN in a format without one is zero of the other sign
}

// doubleToHalf rounds once, as NumPy does.
func doubleToHalf(dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[uint16](dst, n), cellsAt[float64](src, n)
	for i, v := range from {
		to[i] = f16.encode(v)
		if v != v {
			to[i] = to[i]&0x8000 | nanHalf(uint16(math.Float64bits(v)>>42))
		}
	}
}

// nanHalf returns the NaN with the lower 10 bits of that mantissa, or the first NaN if they are 0, which would be infinity.
func nanHalf(mantissa uint16) uint16 { return f16.inf | max(mantissa&0x3ff, 1) }

// floatToE8M0 rounds to a power of two as ml_dtypes does: ties go up, and so does every value between 2**-127 and 2**-126.
func floatToE8M0(dst, src unsafe.Pointer, n int64) {
	to, from := bytesAt(dst, n), cellsAt[uint32](src, n)
	for i, v := range from {
		switch {
		case v == 0 || v >= 0xfe<<singleMantissa|1<<(singleMantissa-1): // zero, 1.5 * 2**127 and more, NaN, negative
			to[i] = 0xff
		case v < 1<<singleMantissa:
			to[i] = bit(v > 1<<(singleMantissa-1))
		default:
			to[i] = uint8((v + 1<<(singleMantissa-1)) >> singleMantissa)
		}
	}
}

// smallToFloat returns the stage that decodes codes of 8 bits and less by a table.
func smallToFloat(code dlpack.Code) stage { return lookup(singles[code]()) }

// singles has the values of all codes as float32 bits, by type code; each is computed at its first use.
var singles = newSingles()

func newSingles() (all [len(formats)]func() *[256]uint32) {
	for code := range all {
		all[code] = sync.OnceValue(func() *[256]uint32 { return decodeSingles(dlpack.Code(code)) })
	}
	return all
}

func decodeSingles(code dlpack.Code) *[256]uint32 {
	var table [256]uint32
	for i := range table {
		table[i] = decodeSingle(code, uint8(i))
	}
	return &table
}

// decodeSingle returns the float32 bits of a code. A NaN has the sign of its code, as in ml_dtypes.
func decodeSingle(code dlpack.Code, bits uint8) uint32 {
	v := decodeFloat(code, 8, uint64(bits))
	if v == v {
		return math.Float32bits(float32(v))
	}
	nan := math.Float32bits(float32(math.NaN()))
	if code == dlpack.CodeFloat8E8M0FNU {
		return nan
	}
	return nan | uint32(bits>>7)<<31
}

func bfloatToFloat(dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[uint32](dst, n), cellsAt[uint16](src, n)
	for i, v := range from {
		to[i] = uint32(v) << 16
	}
}

// halfToFloat and halfToDouble move bits, which preserves NaNs: the processor would make them quiet.
func halfToFloat(dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[uint32](dst, n), cellsAt[uint16](src, n)
	for i, v := range from {
		magnitude, sign := uint32(v&0x7fff), uint32(v&0x8000)<<16
		switch {
		case magnitude-0x400 < 0x7800:
			to[i] = sign | magnitude<<13 + (singleBias-15)<<singleMantissa
		case magnitude < 0x400:
			to[i] = sign | math.Float32bits(float32(magnitude)*0x1p-24)
		default:
			to[i] = sign | singleInf | magnitude<<13
		}
	}
}

func halfToDouble(dst, src unsafe.Pointer, n int64) {
	to, from := cellsAt[uint64](dst, n), cellsAt[uint16](src, n)
	for i, v := range from {
		magnitude, sign := uint64(v&0x7fff), uint64(v&0x8000)<<48
		switch {
		case magnitude-0x400 < 0x7800:
			to[i] = sign | magnitude<<42 + (doubleBias-15)<<doubleMantissa
		case magnitude < 0x400:
			to[i] = sign | math.Float64bits(float64(magnitude)*0x1p-24)
		default:
			to[i] = sign | 0x7ff<<doubleMantissa | magnitude<<42
		}
	}
}
