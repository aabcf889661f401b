package kernel

import "godlpack/tensor"

// Ragged returns rows of different lengths as two new tensors of the caller's framework: the elements of all rows, one row after
// the other, and len(rows)+1 offsets. Row i is values[offsets[i]:offsets[i+1]], as in an Arrow list array and in a nested
// tensor of torch. It panics as Empty does.
func Ragged[T tensor.Element](ctx *Ctx, rows [][]T) (values tensor.Mut[T], offsets tensor.Mut[int64]) {
	offsets = Empty[int64](ctx, int64(len(rows))+1)
	at, end := offsets.Slice(), int64(0)
	for i, row := range rows {
		at[i] = end
		end += int64(len(row))
	}
	at[len(rows)] = end
	values = Empty[T](ctx, end)
	to := values.Slice()
	for _, row := range rows {
		to = to[copy(to, row):]
	}
	return values, offsets
}
