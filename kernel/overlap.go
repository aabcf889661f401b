package kernel

import (
	"godlpack/dlpack"
)

// A writer is a tensor argument, and whether it is written.
type member struct {
	tensor *dlpack.Tensor
	slot   *slot
	arg    int
}

// checkOverlaps refuses a tensor that is written and shares memory with another argument: the function would read what
// it has just written, or not, depending on how it goes about it.
func (c *Call) checkOverlaps() error {
	var room [8]member
	all := c.tensors(room[:0])
	for i, written := range all {
		if !written.slot.Mutable {
			continue
		}
		for k, other := range all {
			if k == i || k < i && other.slot.Mutable || written.slot.MayOverlap || other.slot.MayOverlap {
				continue // itself, looked at before, or allowed
			}
			if dlpack.Overlap(written.tensor, other.tensor) {
				return c.overlapError(written, other)
			}
		}
	}
	return nil
}

// tensors appends all tensors that the function will see.
func (c *Call) tensors(all []member) []member {
	for i := range c.fn.plan.params {
		s := &c.fn.plan.params[i]
		switch {
		case s.Kind == KindTensor:
			if t := c.tensor(i); t != nil {
				all = append(all, member{t, s, i})
			}
		case s.Kind == KindList && s.elem.Kind == KindTensor:
			for k := range c.elements(i).Len() {
				all = append(all, member{c.element(i, k), s.elem, i})
			}
		}
	}
	return all
}

func (c *Call) overlapError(written, other member) error {
	text := "want memory of its own, since it is written, got some that "
	if written.arg == other.arg {
		text += "two of its elements share"
	} else {
		text += "'" + c.fn.Params[other.arg].Name + "' shares"
	}
	return c.refused(written.arg, &refusal{Kind: ValueError, Msg: text})
}
