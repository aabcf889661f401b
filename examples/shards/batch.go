package shards

import (
	"context"
	"slices"
	"sync"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Batch is the columns of some samples. Its tensors are its own memory, without a copy.
//
//godlpack:export
type Batch struct {
	State   string //godlpack:export readonly
	n       int
	columns []*filled
}

// Len returns the number of samples.
func (b *Batch) Len() int { return b.n }

// Kinds returns what each column is: int64, float32, float64, image, str or bytes; with [] behind it, lists of different lengths.
//
//godlpack:export
func (b *Batch) Kinds() map[string]string {
	kinds := map[string]string{}
	for _, f := range b.columns {
		kinds[f.column.name] = f.column.kind
		if f.column.ragged() {
			kinds[f.column.name] += "[]"
		}
	}
	return kinds
}

// column returns a column that is of one of some kinds.
func (b *Batch) column(name string, kinds ...string) (*filled, error) {
	for _, f := range b.columns {
		if f.column.name == name && slices.Contains(kinds, f.column.kind) {
			return f, nil
		}
	}
	return nil, kernel.Errorf(kernel.KeyError, "%s", name)
}

// view returns numbers as a tensor: one row for each sample, or the values of all lists.
func view[T tensor.Element](b *Batch, f *filled, data []T) (tensor.Mut[T], error) {
	switch {
	case f.column.kind == "image":
		return tensor.FromSlice(data, int64(b.n), 3, int64(f.column.dims[0]), int64(f.column.dims[1]))
	case len(f.column.dims) == 0 || f.column.ragged():
		return tensor.FromSlice(data, int64(len(data)))
	}
	return tensor.FromSlice(data, int64(b.n), int64(f.column.dims[0]))
}

//godlpack:export
//godlpack:result shared
func (b *Batch) Int64(name string) (v tensor.Mut[int64], err error) {
	f, err := b.column(name, "int64")
	if err != nil {
		return v, err
	}
	return view(b, f, f.ints)
}

//godlpack:export
//godlpack:result shared
func (b *Batch) Float32(name string) (v tensor.Mut[float32], err error) {
	f, err := b.column(name, "float32")
	if err != nil {
		return v, err
	}
	return view(b, f, f.float32s)
}

//godlpack:export
//godlpack:result shared
func (b *Batch) Float64(name string) (v tensor.Mut[float64], err error) {
	f, err := b.column(name, "float64")
	if err != nil {
		return v, err
	}
	return view(b, f, f.float64s)
}

// Image returns pictures: red, green and blue planes.
//
//godlpack:export
//godlpack:result shared
func (b *Batch) Image(name string) (v tensor.Mut[uint8], err error) {
	f, err := b.column(name, "image")
	if err != nil {
		return v, err
	}
	return view(b, f, f.pixels)
}

// Offsets returns where each list begins among the values, and the end.
//
//godlpack:export
//godlpack:result shared
func (b *Batch) Offsets(name string) (v tensor.Mut[int64], err error) {
	f, err := b.column(name, "int64", "float32", "float64")
	if err != nil {
		return v, err
	}
	return tensor.FromSlice(f.offsets, int64(len(f.offsets)))
}

//godlpack:export
func (b *Batch) Str(name string) ([]string, error) {
	f, err := b.column(name, "str")
	if err != nil {
		return nil, err
	}
	return f.texts, nil
}

//godlpack:export
func (b *Batch) Bytes(name string) ([][]byte, error) {
	f, err := b.column(name, "bytes")
	if err != nil {
		return nil, err
	}
	return f.blobs, nil
}

// scratches are those that no goroutine uses.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// decode makes a batch of samples.
func (r *Reader) decode(ctx context.Context, samples []placed) (*Batch, error) {
	scratch := scratches.Get().(*scratch)
	defer scratches.Put(scratch)
	b := &Batch{n: len(samples)}
	for _, c := range r.columns {
		b.columns = append(b.columns, newFilled(c, len(samples)))
	}
	for i, s := range samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		fields := s.fields
		if s.line != nil {
			var err error
			scratch.fields = append(scratch.fields[:0], make([]value, len(r.columns))...)
			if fields, err = fieldsOf(&scratch.lines, s.line, r.columns, scratch.fields); err != nil {
				return nil, s.at(err)
			}
		}
		for j, f := range b.columns {
			if err := f.add(scratch, i, fields[j]); err != nil {
				return nil, s.at(kernel.Errorf(kernel.ValueError, "%s: %w", f.column.name, err))
			}
		}
	}
	b.State = samples[len(samples)-1].state()
	return b, nil
}
