package dlpack

// The remedies state how a caller in Python can make a tensor that a function accepts: "use np.ascontiguousarray(x) or
// x.contiguous()". For a tensor that will be written they also state how to copy the result back. Name is the caller's name for
// it.

// OrderRemedy is for elements that are not compact in the required order, 'C' or 'F'.
func OrderRemedy(name string, order byte, ndim int, written bool) string {
	switch {
	case order != 'F':
		return remedy(name, "np.ascontiguousarray("+name+") or "+name+".contiguous()", written)
	case ndim == 2:
		return remedy(name, "np.asfortranarray("+name+") or "+name+".T.contiguous().T", written)
	}
	return remedy(name, "np.asfortranarray("+name+")", written)
}

// AlignmentRemedy is for elements that are not aligned.
func AlignmentRemedy(name string, written bool) string {
	return remedy(name, name+".copy() or "+name+".clone()", written)
}

// DeviceRemedy is for memory on another device than required.
func DeviceRemedy(name string, want DeviceType, written bool) string {
	return remedy(name, name+`.to("`+want.String()+`")`, written)
}

// WriteRemedy is for memory that must not be written, or not element by element. The copy receives the writes.
func WriteRemedy(name string) string {
	return "use a copy, np.array(" + name + ") or " + name + ".clone()"
}

func remedy(name, copied string, written bool) string {
	if written {
		return "use a copy, " + copied + ", and put it back by " + name + "[...] = copy"
	}
	return "use " + copied
}
