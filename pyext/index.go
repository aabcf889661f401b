package pyext

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

func init() {
	cpython.Handle(cpython.OpTensorSubscript, func(c *cpython.Call) (cpython.Object, error) {
		return subscript(c.Tensor(), c.Arg(0))
	})
	cpython.Handle(cpython.OpTensorIter, iterator)
}

// selection is the view that an index selects; it is built key by key.
type selection struct {
	axes           int     // of the tensor
	shape, strides []int64 // of the tensor's axes that no key has used yet
	start          int64   // element offset of the view
	to, steps      []int64 // of the view so far
}

// subscript returns the view t[key] for ints, slices, None and Ellipsis, and tuples of them; it never copies.
func subscript(t cpython.Tensor, key cpython.Object) (cpython.Object, error) {
	keys := []cpython.Object{key.Retain()}
	if key.IsTuple() {
		key.Release()
		var err error
		if keys, err = key.Items(); err != nil {
			return cpython.Object{}, err
		}
	}
	defer cpython.ReleaseAll(keys)
	rec := t.Record()
	s := selection{axes: int(rec.NDim), shape: rec.ShapeSlice(), strides: rec.StridesSlice()}
	if err := s.selectAll(keys); err != nil {
		return cpython.Object{}, err
	}
	if len(s.to) > dlpack.MaxNDim {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindIndex, "want a view of at most %d dimensions, got %d", dlpack.MaxNDim, len(s.to))
	}
	bits := s.start * int64(rec.DType.BitSize(t.Padded()))
	if bits%8 != 0 {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "a view of packed %s that starts inside a byte (element %d) cannot be expressed; index a padded copy", rec.DType, s.start)
	}
	return t.View(bits/8, s.to, s.steps, t.Flags())
}

func (s *selection) selectAll(keys []cpython.Object) error {
	spare, err := s.spareAxes(keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		switch {
		case key.IsNone():
			s.keep(1, 0)
		case key.IsEllipsis():
			s.keepAxes(spare)
			spare = 0
		case key.IsSlice():
			n, step := s.next()
			from, by, length, err := key.Slice(n)
			if err != nil {
				return err
			}
			if length > 0 {
				s.start += from * step
			}
			s.keep(length, by*step)
		default:
			if err := s.pick(key); err != nil {
				return err
			}
		}
	}
	s.keepAxes(len(s.shape))
	return nil
}

// spareAxes returns the number of axes that an Ellipsis among the keys stands for.
func (s *selection) spareAxes(keys []cpython.Object) (int, error) {
	used, ellipses := 0, 0
	for _, key := range keys {
		switch {
		case key.IsEllipsis():
			ellipses++
		case !key.IsNone():
			used++
		}
	}
	if ellipses > 1 {
		return 0, dlpack.Errorf(dlpack.KindIndex, "want at most one ellipsis, got %d", ellipses)
	}
	if used > len(s.shape) {
		return 0, dlpack.Errorf(dlpack.KindIndex, "want at most %d indices for shape %v, got %d", len(s.shape), s.shape, used)
	}
	return len(s.shape) - used, nil
}

func (s *selection) next() (extent, stride int64) {
	extent, stride = s.shape[0], s.strides[0]
	s.shape, s.strides = s.shape[1:], s.strides[1:]
	return extent, stride
}

func (s *selection) keep(extent, stride int64) {
	s.to, s.steps = append(s.to, extent), append(s.steps, stride)
}

func (s *selection) keepAxes(n int) {
	for range n {
		s.keep(s.next())
	}
}

// pick selects one index of the next axis, which the view does not have.
func (s *selection) pick(key cpython.Object) error {
	if !key.IsIndex() || key.IsBool() {
		return dlpack.Errorf(dlpack.KindType, "want an int, a slice, None, ... or a tuple of them as an index, got %s", key.Type().Name())
	}
	axis := s.axes - len(s.shape)
	n, step := s.next()
	i, fits, err := key.Int64()
	if err != nil {
		return err
	}
	if i < 0 && fits {
		i += n
	}
	if !fits || i < 0 || i >= n {
		return dlpack.Errorf(dlpack.KindIndex, "index %s is out of bounds for axis %d with %d elements", key.Str(), axis, n)
	}
	s.start += i * step
	return nil
}

// iterator iterates over the views t[0], t[1], ..., which are made one by one: map(t.__getitem__, range(len(t))).
func iterator(c *cpython.Call) (cpython.Object, error) {
	rec := c.Tensor().Record()
	if rec.NDim == 0 {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindType, "iteration over a tensor of 0 dimensions")
	}
	builtins, err := cpython.Import("builtins")
	if err != nil {
		return builtins, err
	}
	defer builtins.Release()
	length := cpython.Int(rec.ShapeSlice()[0])
	defer length.Release()
	indices, err := builtins.CallMethod("range", []cpython.Object{length})
	if err != nil {
		return indices, err
	}
	defer indices.Release()
	getItem, err := c.Self.Attr("__getitem__")
	if err != nil {
		return getItem, err
	}
	defer getItem.Release()
	return builtins.CallMethod("map", []cpython.Object{getItem, indices})
}
