package dlpack

// The remedies say what a caller in Python can do about a tensor that a function does not take as it lies: "use
// np.ascontiguousarray(x) or x.contiguous()". Of what would be written they say how to get it back, too. Name is what the
// caller may call it.

// OrderRemedy is for elements that shall be compact in an order, 'C' or 'F', and are not.
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

// DeviceRemedy is for memory that shall be on a device and is not.
func DeviceRemedy(name string, want DeviceType, written bool) string {
	return remedy(name, name+`.to("`+want.String()+`")`, written)
}

// WriteRemedy is for memory that must not be written, or cannot be element by element. What is written is in the copy.
func WriteRemedy(name string) string {
	return "use a copy, np.array(" + name + ") or " + name + ".clone()"
}

func remedy(name, copied string, written bool) string {
	if written {
		return "use a copy, " + copied + ", and put it back by " + name + "[...] = copy"
	}
	return "use " + copied
}
