package tensor

import (
	"math"

	"godlpack/dlpack"
)

// Load returns the element at offset index, in elements, from the start of t; index may be negative.
//
// Padded is the flag SubbytePadded of t: each sub-byte lane has its own bytes, instead of following the previous one bit by bit
// (R21). A bool is true if any of its bits is set (R45). Load allocates for vectors only.
//
// As for all functions here that take a tensor without returning an error, t must be valid (Tensor.Validate), the host must be
// able to read it, and the element must lie in it.
func Load(t *dlpack.Tensor, padded bool, index int64) Scalar {
	d := t.DType
	at, step := index*int64(d.BitSize(padded)), int64(laneSize(d, padded))
	if d.Lanes == 1 {
		return decode(d, readBits(t.Start(), at, int(d.Bits)))
	}
	lanes := make([]Scalar, d.Lanes)
	for i := range lanes {
		lanes[i] = decode(d, readBits(t.Start(), at+int64(i)*step, int(d.Bits)))
	}
	return Lanes(lanes...)
}

// Store sets the element at offset index, in elements, from the start of t; see Load and Check. A single value sets all lanes
// of a vector. After an error the element is unchanged.
func Store(t *dlpack.Tensor, padded bool, index int64, s Scalar) error {
	if err := reachable(t); err != nil {
		return err
	}
	if err := Check(t.DType, s); err != nil {
		return err
	}
	store(t, padded, index, s)
	return nil
}

// store stores a value that Check has accepted.
func store(t *dlpack.Tensor, padded bool, index int64, s Scalar) {
	d := t.DType
	at, step := index*int64(d.BitSize(padded)), int64(laneSize(d, padded))
	for i := range int64(d.Lanes) {
		w, _ := encode(d, s.lane(int(i)))
		writeBits(t.Start(), at+i*step, laneSize(d, padded), w)
	}
}

// Check returns nil if s can become an element of type d, and otherwise an error that names both.
// It is a ValueError when an integer is outside the range of d, when NaN, an infinity or a too large float is to become an
// integer (others lose their fraction, as in NumPy), when NaN is to be stored in a format without one (fp6, fp4), when a
// complex number is to become a real one or an integer, when the number of lanes differs, and for raw bits (float128, handles)
// of another type. A type that is not Valid is a BufferError. A value too large for a float format follows the format's own
// rule: see Float16 and the other formats.
func Check(d dlpack.DType, s Scalar) error {
	if err := d.Valid(); err != nil {
		return err
	}
	if s.kind != KindLanes {
		_, err := encode(d, s)
		return err
	}
	if len(s.Lanes()) != int(d.Lanes) {
		return dlpack.Errorf(dlpack.KindValue, "%v: want %d lanes, got %d", d, d.Lanes, len(s.Lanes()))
	}
	for _, lane := range s.Lanes() {
		if _, err := encode(d, lane); err != nil {
			return err
		}
	}
	return nil
}

// laneSize returns the distance in bits between neighbouring lanes.
func laneSize(d dlpack.DType, padded bool) int { return d.BitSize(padded) / int(d.Lanes) }

// lane returns the value of lane i: a single value stands for all lanes.
func (s Scalar) lane(i int) Scalar {
	if s.kind == KindLanes {
		return s.Lanes()[i]
	}
	return s
}

// reachable rejects memory that the host cannot access.
func reachable(tensors ...*dlpack.Tensor) error {
	for _, t := range tensors {
		if !t.Device.Type.HostReadable() {
			return unreachable(t.Device)
		}
	}
	return nil
}

func unreachable(d dlpack.Device) error {
	return dlpack.Errorf(dlpack.KindBuffer, "want memory that the host can reach, got a tensor on %v; %s",
		d, dlpack.DeviceRemedy("x", dlpack.CPU, false))
}

// formats has the small float formats by their type code.
var formats = [...]*format{
	dlpack.CodeFloat8E3M4:        &e3m4,
	dlpack.CodeFloat8E4M3:        &e4m3,
	dlpack.CodeFloat8E4M3B11FNUZ: &e4m3b11fnuz,
	dlpack.CodeFloat8E4M3FN:      &e4m3fn,
	dlpack.CodeFloat8E4M3FNUZ:    &e4m3fnuz,
	dlpack.CodeFloat8E5M2:        &e5m2,
	dlpack.CodeFloat8E5M2FNUZ:    &e5m2fnuz,
	dlpack.CodeFloat6E2M3FN:      &e2m3fn,
	dlpack.CodeFloat6E3M2FN:      &e3m2fn,
	dlpack.CodeFloat4E2M1FN:      &e2m1fn,
}

// decode returns the value of the bits of one lane of d.
func decode(d dlpack.DType, w word) Scalar {
	switch d.Code {
	case dlpack.CodeInt:
		return Scalar{kind: KindInt, bits: signExtend(w, int(d.Bits))}
	case dlpack.CodeUInt:
		return Scalar{kind: KindUInt, bits: w}
	case dlpack.CodeBool:
		return BoolScalar(w != word{})
	case dlpack.CodeComplex, dlpack.CodeBcomplex:
		half := int(d.Bits) / 2
		return ComplexScalar(complex(decodeFloat(d.Code, half, w[0]), decodeFloat(d.Code, half, w[half/64]>>(half%64))))
	case dlpack.CodeFloat, dlpack.CodeOpaqueHandle:
		if d.Code == dlpack.CodeOpaqueHandle || d.Bits == 128 {
			return Scalar{kind: KindRaw, width: d.Bits, bits: w}
		}
	}
	return FloatScalar(decodeFloat(d.Code, int(d.Bits), w[0]))
}

// decodeFloat returns the value of the lowest width bits. The parts of complex numbers are those of CodeFloat, or of
// CodeBfloat.
func decodeFloat(code dlpack.Code, width int, bits uint64) float64 {
	switch code {
	case dlpack.CodeFloat, dlpack.CodeComplex:
		switch width {
		case 16:
			return f16.decode(uint16(bits))
		case 32:
			return float64(math.Float32frombits(uint32(bits)))
		}
		return math.Float64frombits(bits)
	case dlpack.CodeBfloat, dlpack.CodeBcomplex:
		return bf16.decode(uint16(bits))
	case dlpack.CodeFloat8E8M0FNU:
		return decodeE8M0(uint8(bits))
	}
	return formats[code].decode(uint16(bits))
}

// encode returns the bits of s as one lane of the valid type d; the errors are those of Check.
func encode(d dlpack.DType, s Scalar) (word, error) {
	switch {
	case s.kind == KindLanes:
		return word{}, dlpack.Errorf(dlpack.KindValue, "%v: want one number a lane, got %v", d, s)
	case d.Code == dlpack.CodeOpaqueHandle || s.kind == KindRaw:
		return encodeRaw(d, s)
	case d.Code == dlpack.CodeBool:
		return BoolScalar(s.Bool()).bits, nil
	case s.kind == KindComplex && !d.Code.Complex():
		return word{}, dlpack.Errorf(dlpack.KindValue, "%v: want a real number, got %v", d, s)
	case d.Code == dlpack.CodeInt || d.Code == dlpack.CodeUInt:
		return encodeInt(d, s)
	case d.Code.Complex():
		return encodeComplex(d, s), nil
	case s.kind == KindFloat && math.IsNaN(s.Float64()) && noNaN(d.Code):
		return word{}, dlpack.Errorf(dlpack.KindValue, "%v: the format has no nan", d)
	case d.Bits == 128:
		return encodeQuad(s.Float64()), nil
	}
	return word{encodeFloat(d.Code, int(d.Bits), s.rounding(d))}, nil
}

func noNaN(code dlpack.Code) bool {
	return code == dlpack.CodeFloat6E2M3FN || code == dlpack.CodeFloat6E3M2FN || code == dlpack.CodeFloat4E2M1FN
}

// rounding returns the float64 to be rounded to d, so that an integer is rounded only once.
func (s Scalar) rounding(d dlpack.DType) float64 {
	if s.whole() && d.Bits < 64 {
		return s.integer().sticky()
	}
	return s.Float64()
}

// encodeInt returns the two's complement of s without its fraction.
func encodeInt(d dlpack.DType, s Scalar) (word, error) {
	n, ok := s.integer(), true
	if s.kind == KindFloat {
		n, ok = truncated(s.Float64())
	}
	if !ok || !n.fits(int(d.Bits), d.Code == dlpack.CodeInt) {
		return word{}, dlpack.Errorf(dlpack.KindValue, "%v: %v does not fit", d, s)
	}
	return n.word().lowest(int(d.Bits)), nil
}

// encodeRaw copies bits without interpreting them, and accepts an integer for a handle.
func encodeRaw(d dlpack.DType, s Scalar) (word, error) {
	raw := d.Code == dlpack.CodeOpaqueHandle || d.Lane() == dlpack.Float128
	switch {
	case s.kind == KindRaw && raw && s.width == d.Bits:
		return s.bits, nil
	case s.whole() && s.integer().fits(int(d.Bits), false):
		return s.bits, nil
	}
	return word{}, dlpack.Errorf(dlpack.KindValue, "%v: %v does not fit", d, s)
}

func encodeComplex(d dlpack.DType, s Scalar) word {
	half := int(d.Bits) / 2
	re := s.rounding(dlpack.DType{Code: d.Code, Bits: d.Bits / 2})
	im := encodeFloat(d.Code, half, imag(s.Complex128()))
	if half == 64 {
		return word{math.Float64bits(re), im}
	}
	return word{encodeFloat(d.Code, half, re) | im<<half}
}

// encodeFloat is the inverse of decodeFloat: nearest, ties to even.
func encodeFloat(code dlpack.Code, width int, v float64) uint64 {
	switch code {
	case dlpack.CodeFloat, dlpack.CodeComplex:
		switch width {
		case 16:
			return uint64(f16.encode(v))
		case 32:
			return uint64(math.Float32bits(float32(v)))
		}
		return math.Float64bits(v)
	case dlpack.CodeBfloat, dlpack.CodeBcomplex:
		return uint64(bf16.encode(v))
	case dlpack.CodeFloat8E8M0FNU:
		return uint64(encodeE8M0(v))
	}
	return uint64(formats[code].encode(v))
}

// signExtend repeats the sign bit of a number of that width up to bit 127.
func signExtend(w word, width int) word {
	switch {
	case width <= 64:
		w[0] = uint64(int64(w[0]<<(64-width)) >> (64 - width))
		w[1] = uint64(int64(w[0]) >> 63)
	case width < 128:
		w[1] = uint64(int64(w[1]<<(128-width)) >> (128 - width))
	}
	return w
}

// Float lists the floats that Go calculates with: a constraint for functions of either.
type Float interface{ float32 | float64 }

// Integer lists the integers of DLPack that Go calculates with, except int and uint, which are the same as int64 and uint64
// there: a constraint for functions of any.
type Integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}
