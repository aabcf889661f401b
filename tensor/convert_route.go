package tensor

import (
	"unsafe"

	"godlpack/dlpack"
)

// A stage converts n cells of one type to cells of another.
type stage func(dst, src unsafe.Pointer, n int64)

// A pipeline converts rows of cells from one rowBuffer through all stages to the other.
type pipeline struct {
	dst, src *rowBuffer
	stages   []stage
	between  [2]unsafe.Pointer // used alternately
}

// newPipeline returns one for rows of at most n numbers.
func newPipeline(dst, src *rowBuffer, stages []stage, n int64) *pipeline {
	w := &pipeline{dst: dst, src: src, stages: stages}
	for i := range min(len(stages)-1, len(w.between)) {
		w.between[i] = newBuffer(n)
	}
	return w
}

// row converts n numbers, in chunks if there are buffers. Offsets are in numbers.
func (w *pipeline) row(dst, src, n int64) {
	piece := n
	if len(w.stages) > 1 || !w.dst.direct() || !w.src.direct() {
		piece = chunkLen
	}
	for ; n > 0; n -= piece {
		piece = min(piece, n)
		run(w.stages, w.dst.place(dst), w.src.take(src, piece), piece, w.between)
		w.dst.put(dst, piece)
		dst, src = dst+piece*w.dst.stride, src+piece*w.src.stride
	}
}

// run converts n cells from src through all stages to dst.
func run(stages []stage, dst, src unsafe.Pointer, n int64, between [2]unsafe.Pointer) {
	last := len(stages) - 1
	for i, convert := range stages[:last] {
		convert(between[i%2], src, n)
		src = between[i%2]
	}
	stages[last](dst, src, n)
}

// enough is the least length of a row for which a table of all 256 codes of a byte pays off.
const enough = 2 * 256

// route returns the stages from src to dst, types of one lane, for rows of extent numbers.
//
// All routes use ten native types: integers of 8 to 64 bits, float32 and float64. A type's own stage leads to the smallest
// native type that holds it, and one from there back to it.
func route(dst, src dlpack.DType, extent int64) []stage {
	stages := routeNative(dst, src)
	if src.Bits > 8 || len(stages) == 1 || extent < enough {
		return stages
	}
	return []stage{tabulate(stages, cellSize(int(dst.Bits)))}
}

// routeNative is route without tables. Complex types get here only for a conversion to bool: see convertLanes.
func routeNative(dst, src dlpack.DType) []stage {
	switch {
	case src.Code.Complex() && src != halfPart:
		return []stage{complexTruth(src.Bits)}
	case src == dlpack.Float16 && dst == dlpack.Float64:
		return []stage{halfToDouble}
	case src == dlpack.Float64 && dst == dlpack.Float16:
		return []stage{doubleToHalf}
	}
	from, stages := native(src), decoding(src)
	switch to := native(dst); {
	case dst.Code == dlpack.CodeBool:
		return append(stages, truth(from))
	case dst == dlpack.UInt32 && (src == dlpack.Float16 || src == halfPart): // the only floats with this rule
		stages = append(stages, between(dlpack.Int64, from), between(to, dlpack.Int64))
	case from == dlpack.Float32 && src.Bits <= 8 && integral(dst):
		stages = append(stages, saturated(between(to, from), dst))
	case to != from:
		stages = append(stages, between(to, from))
	}
	stages = append(stages, encoding(dst, src)...)
	if len(stages) == 0 { // integers of other widths in cells of the same type
		stages = append(stages, between(from, from))
	}
	return stages
}

// native returns the native type for conversions of d's numbers.
func native(d dlpack.DType) dlpack.DType {
	switch {
	case integral(d):
		return dlpack.DType{Code: d.Code, Bits: uint8(8 * cellSize(int(d.Bits))), Lanes: 1}
	case d.Code == dlpack.CodeBool:
		return dlpack.UInt8
	case d == dlpack.Float64:
		return d
	}
	return dlpack.Float32
}

// integral reports whether d is an integer.
func integral(d dlpack.DType) bool { return d.Code == dlpack.CodeInt || d.Code == dlpack.CodeUInt }

// signedInt reports whether d is a signed integer.
func signedInt(d dlpack.DType) bool { return d.Code == dlpack.CodeInt }

// decoding returns the stages from cells of d to native ones.
func decoding(d dlpack.DType) []stage {
	switch {
	case d.Code == dlpack.CodeBool:
		return []stage{bitTruth[uint8]}
	case signedInt(d) && d.Bits < 8:
		return []stage{extendSign(d.Bits)}
	case d.Code == dlpack.CodeUInt && d.Bits < 8:
		return []stage{maskBits(d.Bits)}
	case d == dlpack.Float16 || d == halfPart:
		return []stage{halfToFloat}
	case d == dlpack.BFloat16:
		return []stage{bfloatToFloat}
	case d.Bits <= 8 && !integral(d):
		return []stage{smallToFloat(d.Code)}
	}
	return nil
}

// encoding returns the stages from native cells to those of d, for values of an original type src.
func encoding(d, src dlpack.DType) []stage {
	switch {
	case integral(d) && d.Bits < 8:
		return []stage{maskBits(d.Bits)}
	case d == dlpack.Float16 && ofNumpy(src):
		return []stage{roundingNumpy.stage16}
	case d == dlpack.Float16 || d == halfPart:
		return []stage{roundingHalf.stage16}
	case d == dlpack.BFloat16:
		return []stage{roundingBF16.stage16}
	case d.Code == dlpack.CodeFloat8E8M0FNU:
		return []stage{floatToE8M0}
	case d.Bits <= 8 && !integral(d):
		return []stage{roundings8[d.Code].stage8}
	}
	return nil
}

// ofNumpy reports whether d is a type of NumPy itself, which keeps the bits of NaNs in float16.
func ofNumpy(d dlpack.DType) bool {
	return d.Code <= dlpack.CodeFloat || d.Code == dlpack.CodeBool || d.Code == dlpack.CodeComplex && d != halfPart
}
