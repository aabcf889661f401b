package kernel

import (
	"cmp"
	"slices"
	"strconv"

	"godlpack/dlpack"
	"godlpack/packed"
)

// A position locates a tensor: argument arg, or its element elem, which is -1 for the argument itself.
type position struct{ arg, elem int }

// An operand is a tensor during the checks.
type operand struct {
	*dlpack.Tensor
	flags dlpack.Flags
	slot  *slot
}

// fitsPlain reports whether argument i is a usual tensor and fits: on the expected device, checked by the host, of one of the
// slot's dtypes. It returns false where checkTensor must decide; checkTensor repeats the same bindings.
func (c *Call) fitsPlain(s *slot, i int) bool {
	if !s.plain {
		return false
	}
	t := c.args.Plain(i, s.mask)
	if t == nil || !s.isUsualOn(t.Device.Type) || t.DType != s.DTypes[0] && !slices.Contains(s.DTypes[1:], t.DType) {
		return false
	}
	if s.variable >= 0 && c.bind(s.variable, t.DType) != t.DType {
		return false
	}
	if uintptr(t.Start())&s.unaligned != 0 || s.Order != AnyOrder && !dlpack.IsContiguous(t.ShapeSlice(), t.StridesSlice(), s.Order[0]) {
		return false
	}
	fits := s.anyRank
	if !fits {
		fits, _ = c.shapeFits(s, t.ShapeSlice(), i)
	}
	return fits && (!s.Mutable || s.Untyped || elementsApart(t))
}

// isUsualOn reports whether a tensor of this slot is usually on such a device.
func (s *slot) isUsualOn(kind dlpack.DeviceType) bool {
	return kind == s.where || s.where == 0 && (kind == dlpack.CPU || kind == dlpack.CUDA)
}

// bind returns the dtype that a type variable is bound to; it binds an unbound one to d.
func (c *Call) bind(variable int, d dlpack.DType) dlpack.DType {
	if c.vars[variable].Lanes == 0 {
		c.vars[variable] = d
	}
	return c.vars[variable]
}

// shapeFits reports whether a shape fits, and binds the names of its extents. If not, wrong is the extent that does not fit,
// nil for a wrong rank. Arg is the number of the argument, for error texts.
func (c *Call) shapeFits(s *slot, dims []int64, arg int) (fits bool, wrong *axis) {
	if s.anyRank {
		return true, nil
	}
	front, back := len(s.before), len(dims)-len(s.after)
	if front > back || front < back && !s.ellipsis {
		return false, nil
	}
	for i := range s.before {
		if a := &s.before[i]; !c.extentFits(a, dims[i], arg) {
			return false, a
		}
	}
	for i := range s.after {
		if a := &s.after[i]; !c.extentFits(a, dims[back+i], arg) {
			return false, a
		}
	}
	return true, nil
}

// elementsApart reports whether no two elements of t share memory.
func elementsApart(t *dlpack.Tensor) bool {
	dims, steps := t.ShapeSlice(), t.StridesSlice()
	return steps == nil || dlpack.IsContiguous(dims, steps, 'C') || !dlpack.SelfOverlap(dims, steps)
}

// checkTensor checks a tensor against a slot, first the properties that no conversion can change, then the others.
func (c *Call) checkTensor(s *slot, cell packed.Cell, flags dlpack.Flags, at position) *refusal {
	var t *dlpack.Tensor
	var err error
	switch cell.Code {
	case packed.CodeTensor, packed.CodeManaged:
		t, err = cell.Tensor()
	case packed.CodeBytes:
		if s.Mutable {
			return &refusal{Kind: BufferError, Msg: "want " + s.want + ", got bytes, which are read-only; use a bytearray"}
		}
		t, err = c.seeBytes(cell, at)
		flags = dlpack.ReadOnly
	default:
		text := "want " + s.want + ", got " + cell.Code.String()
		switch cell.Code {
		case packed.CodeInt, packed.CodeFloat, packed.CodeBool, packed.CodeList, packed.CodeTuple:
			text += ": pass an array (numpy.asarray(x))"
		}
		return &refusal{Kind: TypeError, Msg: text}
	}
	if err == nil && !flags.Has(packed.Checked) {
		err = t.Validate()
	}
	if err != nil {
		return &refusal{Kind: dlpack.KindOf(err), Msg: dlpack.MessageOf(err)}
	}
	o := operand{t, flags, s}
	if r := o.checkMemory(); r != nil {
		return r
	}
	dtype, r := c.chooseType(&o)
	if r != nil {
		return r
	}
	if r := c.checkShape(&o, at.arg); r != nil {
		return r
	}
	r = o.checkLayout()
	if s.Convert && (r != nil || dtype != t.DType) || r == nil && o.realigns() {
		return c.convert(&o, dtype, at)
	}
	return r
}

// checkMemory checks that the function can access the memory, and that it is writable if it will be written.
func (o *operand) checkMemory() *refusal {
	kind := o.Device.Type
	switch {
	case kind == dlpack.CPU && o.slot.host && o.slot.device == 0: // by far the most frequent
	case o.slot.device != 0 && kind != o.slot.device, o.slot.host && !kind.HostReadable():
		return o.refuseDevice()
	case !kind.PointerData():
		return o.refuse(BufferError, ", a handle without an address")
	}
	if o.slot.Mutable && o.flags.Has(dlpack.ReadOnly) {
		return o.refuse(BufferError, ", read-only; "+dlpack.WriteRemedy(o.name()))
	}
	return nil
}

// chooseType returns the dtype that the function gets: the tensor's own, or that of a conversion. It binds the type variable.
// An unbound variable is preferably bound to the tensor's own dtype.
func (c *Call) chooseType(o *operand) (dlpack.DType, *refusal) {
	s, d := o.slot, o.DType
	if len(s.DTypes) > 0 && !slices.Contains(s.DTypes, d) {
		i := slices.IndexFunc(s.DTypes, func(to dlpack.DType) bool { return convertible(o.DType, to) })
		d = s.DTypes[max(i, 0)]
	}
	if s.variable >= 0 {
		d = c.bind(s.variable, d)
	}
	switch {
	case d == o.DType, s.Convert && convertible(o.DType, d):
		return d, nil
	case s.Convert:
		return d, o.refuse(TypeError, ", which does not convert without losing a part of each number: pass what is meant, such as x.real or x.astype(\""+d.String()+"\")")
	}
	if s.variable >= 0 && (len(s.DTypes) == 0 || slices.Contains(s.DTypes, o.DType)) {
		return d, o.refuse(TypeError, ", but "+s.Var+" is "+d.String())
	}
	return d, o.refuse(TypeError, "")
}

// convertible reports whether a conversion keeps what the numbers are: bools may become integers, these floats, and these complex,
// as NumPy's casting "same_kind" has it; the other way it would drop a fraction or an imaginary part without a word.
func convertible(from, to dlpack.DType) bool {
	rank := func(d dlpack.DType) int {
		switch {
		case d.Code == dlpack.CodeBool:
			return 0
		case d.Code == dlpack.CodeInt, d.Code == dlpack.CodeUInt:
			return 1
		case d.Code.Complex():
			return 3
		}
		return 2
	}
	return rank(from) <= rank(to) || from.Code == dlpack.CodeOpaqueHandle // which tensor.Convert refuses
}

// checkShape checks rank and extents, and binds names; see shapeFits.
func (c *Call) checkShape(o *operand, arg int) *refusal {
	switch fits, wrong := c.shapeFits(o.slot, o.ShapeSlice(), arg); {
	case fits:
		return nil
	case wrong == nil:
		return o.refuse(TypeError, "")
	default:
		return c.wrongExtent(o, wrong)
	}
}

// extentFits checks one extent, and binds an unbound name to it.
func (c *Call) extentFits(a *axis, n int64, arg int) bool {
	switch {
	case a.name == anyExtent:
		return true
	case a.name == fixed:
		return n == a.value
	case c.extents[a.name] < 0:
		c.extents[a.name], c.binders[a.name] = n, arg
		return true
	}
	return c.extents[a.name] == n
}

func (c *Call) wrongExtent(o *operand, a *axis) *refusal {
	if a.name == fixed {
		return o.refuse(ValueError, "")
	}
	name, binder := c.fn.plan.names[a.name], c.fn.Params[c.binders[a.name]].Name
	return o.refuse(ValueError, ", but "+name+" is "+strconv.FormatInt(c.extents[a.name], 10)+" in '"+binder+"'")
}

// checkLayout checks the elements' layout: order, alignment, and lanes below a byte.
func (o *operand) checkLayout() *refusal {
	if o.slot.Order != AnyOrder && !dlpack.IsContiguous(o.ShapeSlice(), o.StridesSlice(), o.slot.Order[0]) {
		return o.refuseOrder()
	}
	if o.misaligned() && !o.realigns() {
		return o.refuse(BufferError, ", not aligned to "+strconv.Itoa(o.DType.Align())+" bytes; "+dlpack.AlignmentRemedy(o.name(), o.slot.Mutable))
	}
	if !o.slot.Untyped && o.DType.SubByte() && paddedInGo(o.DType) != o.flags.Has(dlpack.SubbytePadded) {
		return o.refuse(BufferError, ", with lanes "+storageText(o.flags))
	}
	if o.slot.Mutable && !o.slot.Untyped && !elementsApart(o.Tensor) {
		return o.refuse(ValueError, ", with elements that share memory; "+dlpack.WriteRemedy(o.name()))
	}
	return nil
}

// misaligned reports whether the elements' alignment is too small for their Go type.
func (o *operand) misaligned() bool {
	return !o.slot.Untyped && uintptr(o.Start())&uintptr(o.DType.Align()-1) != 0 && !o.Aligned()
}

// realigns reports whether the function gets an aligned copy: of a tensor that it only reads, in memory that the host can copy.
func (o *operand) realigns() bool {
	return o.misaligned() && !o.slot.Mutable && (o.Device.Type == dlpack.CPU || o.slot.host && o.slot.device == 0)
}

// paddedInGo reports whether the Go type for d, of less than a byte a lane, has a byte for each lane (tensor.Element): all
// have, except the pairs of fp4.
func paddedInGo(d dlpack.DType) bool {
	return d.Code != dlpack.CodeFloat4E2M1FN || d.Lanes == 1
}

func storageText(f dlpack.Flags) string {
	if f.Has(dlpack.SubbytePadded) {
		return "padded to a byte each"
	}
	return "packed"
}

// refuse returns "want float32[n] on cpu, got int64[4] on cpu", followed by but.
func (o *operand) refuse(kind dlpack.Kind, but string) *refusal {
	text := make([]byte, 0, 160)
	text = append(append(append(text, "want "...), o.slot.want...), ", got "...)
	text = appendTensor(text, o.Tensor)
	return &refusal{Kind: kind, Msg: string(append(text, but...))}
}

// refuseDevice is refuse for memory on another device.
func (o *operand) refuseDevice() *refusal {
	want := o.slot.device
	if want == 0 {
		want = dlpack.CPU
	}
	return o.refuse(BufferError, "; "+dlpack.DeviceRemedy(o.name(), want, o.slot.Mutable))
}

// refuseOrder is refuse for elements in another order. The function's author can permit a copy.
func (o *operand) refuseOrder() *refusal {
	but := ""
	if o.StridesSlice() != nil {
		but = string(appendNumbers([]byte(", strides "), o.StridesSlice()))
	}
	but += "; " + dlpack.OrderRemedy(o.name(), o.slot.Order[0], int(o.NDim), o.slot.Mutable)
	if !o.slot.Mutable && o.slot.host {
		but += ", or declare it convert in Go"
	}
	return o.refuse(BufferError, but)
}

// name returns the tensor's name in the remedies of error texts.
func (o *operand) name() string { return cmp.Or(o.slot.Name, "x") }
