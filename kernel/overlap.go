package kernel

import "godlpack/dlpack"

// A member is one of the tensors of a call.
type member struct {
	tensor *dlpack.Tensor
	slot   *slot
	arg    int

	first, end uintptr // its bytes, if it is compact: both 0 if not
}

// add appends a member in place, as it is too big to pass by value.
func add(all []member, t *dlpack.Tensor, s *slot, arg int) []member {
	all = append(all, member{})
	m := &all[len(all)-1]
	m.tensor, m.slot, m.arg = t, s, arg
	if dims := t.ShapeSlice(); t.Device.Type == dlpack.CPU && dlpack.IsContiguous(dims, t.StridesSlice(), 'C') {
		size := uintptr(t.DType.ItemSize(true))
		for _, extent := range dims {
			size *= uintptr(extent)
		}
		m.first = uintptr(t.Start())
		m.end = m.first + size
	}
	return all
}

// meets reports whether two tensors may share memory.
func (m *member) meets(other *member) bool {
	if m.first != 0 && other.first != 0 {
		return max(m.first, other.first) < min(m.end, other.end)
	}
	return dlpack.Overlap(m.tensor, other.tensor)
}

// checkOverlaps rejects a written tensor that shares memory with another argument: whether the function would read old or new
// values depends on its implementation.
func (c *Call) checkOverlaps() error {
	var room [8]member
	all := c.tensors(room[:0])
	for i := range all {
		written := &all[i]
		if !written.slot.Mutable {
			continue
		}
		for k := range all {
			other := &all[k]
			if k == i || k < i && other.slot.Mutable || written.slot.MayOverlap || other.slot.MayOverlap {
				continue // itself, checked before, or allowed
			}
			if written.meets(other) {
				return c.overlapError(written, other)
			}
		}
	}
	return nil
}

// tensors appends all tensors that the function gets.
func (c *Call) tensors(all []member) []member {
	for i := range c.fn.plan.params {
		s := &c.fn.plan.params[i]
		switch {
		case s.Kind == KindTensor:
			if t := c.tensor(i); t != nil {
				all = add(all, t, s, i)
			}
		case s.Kind == KindList && s.elem.Kind == KindTensor:
			for k := range c.elements(i).Len() {
				all = add(all, c.element(i, k), s.elem, i)
			}
		}
	}
	return all
}

func (c *Call) overlapError(written, other *member) error {
	text := "want memory of its own, since the function writes to it, got memory that "
	if written.arg == other.arg {
		text += "two of its elements share"
	} else {
		text += "'" + c.fn.Params[other.arg].Name + "' shares"
	}
	return c.refused(written.arg, &refusal{Kind: ValueError, Msg: text})
}
