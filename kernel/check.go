package kernel

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"godlpack/dlpack"
	"godlpack/packed"
)

// A refusal is the reason why an argument is rejected; the names of function and argument are prepended later.
type refusal = Error

// check checks all arguments against the declaration, and binds type variables and the names of extents.
func (c *Call) check() error {
	p := c.fn.plan
	n := c.args.Len()
	if n > len(p.params) {
		return c.countError()
	}
	for i := range p.names {
		c.extents[i] = -1
	}
	for i := range p.vars {
		c.vars[i] = dlpack.DType{}
	}
	for i := range p.params {
		if i < n && (c.fitsPlain(&p.params[i], i) || c.fitsObject(&p.params[i], i)) {
			continue
		}
		if err := c.checkArgument(i); err != nil {
			return err
		}
	}
	if p.mutable {
		return c.checkOverlaps()
	}
	return nil
}

// fitsObject reports whether argument i is an object of the slot's only class, as that of every method is; checkCell decides
// about all others.
func (c *Call) fitsObject(s *slot, i int) bool {
	return s.Kind == KindObject && len(s.classes) == 1 && c.args.Code(i) == packed.CodeObject &&
		objects.at(c.args.At(i)).class == s.classes[0]
}

// checkArgument checks argument i against its slot.
func (c *Call) checkArgument(i int) error {
	s := &c.fn.plan.params[i]
	if !c.Passed(i) {
		if s.Default == nil {
			return c.missing(i)
		}
		return nil // checked when the function was prepared
	}
	if r := c.checkCell(s, c.args.At(i), i); r != nil {
		return c.refused(i, r)
	}
	return nil
}

func (c *Call) countError() error {
	want := len(c.fn.Params)
	text := c.fn.label() + "() takes " + strconv.Itoa(want) + " argument"
	if want != 1 {
		text += "s"
	}
	return &Error{Kind: TypeError, Msg: text + ", got " + strconv.Itoa(c.args.Len())}
}

func (c *Call) missing(i int) error {
	return &Error{Kind: TypeError, Msg: c.fn.label() + "() missing argument '" + c.fn.Params[i].Name + "'"}
}

// refused prepends function and argument to a refusal. An error of the caller itself takes precedence.
func (c *Call) refused(i int, r *refusal) error {
	if c.err != nil {
		return c.err
	}
	r.Msg = c.fn.label() + "(): argument '" + c.fn.Params[i].Name + "': " + r.Msg
	return r
}

// checkCell checks one value against a slot. It is argument i, or an element of it.
func (c *Call) checkCell(s *slot, cell packed.Cell, i int) *refusal {
	if cell.Code == packed.CodeNull && s.Optional {
		return nil
	}
	switch s.Kind {
	case KindTensor:
		return c.checkTensor(s, cell, c.args.FlagsAt(i), position{i, -1})
	case KindList:
		return c.checkList(s, cell, i)
	}
	return checkScalar(s, cell)
}

// checkScalar checks anything but tensors and lists against a slot.
func checkScalar(s *slot, cell packed.Cell) *refusal {
	var err error
	switch s.Kind {
	case KindBool:
		_, err = cell.Bool()
	case KindInt:
		var v int64
		if cell.Code == packed.CodeUint && s.Unsigned && s.max == math.MaxInt64 {
			return nil
		}
		if v, err = cell.Int(); dlpack.KindOf(err) == OverflowError {
			return &refusal{Kind: OverflowError, Msg: "want " + s.want + ", got " + large(cell)}
		} else if err == nil && (v < s.min || v > s.max) {
			return &refusal{Kind: ValueError, Msg: "want " + s.want + ", got " + strconv.FormatInt(v, 10)}
		}
	case KindFloat:
		_, err = cell.Float()
	case KindObject:
		if e := objects.at(cell); slices.Contains(s.classes, e.class) {
			return nil
		}
		err = &Error{Kind: TypeError}
	default:
		err = checkObject(s.Kind, cell)
	}
	if err == nil {
		return nil
	}
	if dlpack.KindOf(err) == TypeError {
		return &refusal{Kind: TypeError, Msg: "want " + s.want + ", got " + described(cell, s)}
	}
	return &refusal{Kind: dlpack.KindOf(err), Msg: dlpack.MessageOf(err)}
}

// large formats an int that exceeds an int64.
func large(cell packed.Cell) string {
	if v, err := cell.Uint(); err == nil {
		return strconv.FormatUint(v, 10)
	}
	v, _ := cell.Float()
	return "about " + strconv.FormatFloat(v, 'g', -1, 64)
}

// described names a cell's value, for error texts: a tensor by its dtype and shape, with a hint what to pass instead.
func described(cell packed.Cell, s *slot) string {
	if e := objects.at(cell); e.class != nil {
		return e.class.Name
	}
	t, err := cell.Tensor()
	if err != nil || t == nil || t.Validate() != nil {
		return cell.Code.String()
	}
	text := "a tensor, " + string(appendTensor(nil, t))
	if instead := instead(s, int(t.NDim)); instead != "" && !slices.Contains(t.ShapeSlice(), 0) {
		text += ": pass " + instead
	}
	return text
}

// instead returns the expression to pass instead of a tensor x with ndim axes, for a slot that takes none; "" if there is none.
func instead(s *slot, ndim int) string {
	value := "x.item()"
	if ndim > 0 {
		value = "x[" + strings.Repeat("0, ", ndim-1) + "0].item()"
	}
	switch {
	case s.Kind == KindList && s.elem.Kind == KindTensor && ndim > 1:
		return "a list of tensors (list(x) or [x])"
	case s.Kind == KindList && s.elem.Kind == KindTensor: // NumPy converts an array of one axis to numbers
		return "a list of tensors ([x])"
	case s.Kind == KindList && ndim == 0:
		return "a list ([x.item()])"
	case s.Kind == KindList && ndim == 1:
		return "a list (x.tolist())"
	case s.Kind == KindList:
		return "a list (x.reshape(-1).tolist())"
	case s.Kind == KindBool || s.Kind == KindInt || s.Kind == KindFloat:
		if ndim == 0 {
			return "its value (" + value + ")"
		}
		return "one of its elements (" + value + ")"
	}
	return ""
}

// checkObject is checkScalar for values that are not numbers.
func checkObject(kind Kind, cell packed.Cell) error {
	var err error
	switch kind {
	case KindString:
		_, err = cell.Text()
	case KindBytes:
		_, err = cell.Bytes()
	case KindDType:
		_, err = dtypeOf(cell)
	case KindDevice:
		_, err = deviceOf(cell)
	case KindCallable:
		if cell.Code != packed.CodeCallable {
			return &Error{Kind: TypeError}
		}
		_, err = cell.Pointer()
	}
	return err
}

// dtypeOf reads a dtype, or its name, and checks that the type exists.
func dtypeOf(cell packed.Cell) (dlpack.DType, error) {
	if cell.Code == packed.CodeText || cell.Code == packed.CodeStr {
		name, err := cell.Text()
		if err != nil {
			return dlpack.DType{}, err
		}
		return dlpack.ParseDType(name)
	}
	d, err := cell.DType()
	if err == nil {
		err = d.Valid()
	}
	return d, err
}

// deviceOf reads a device, or its name, and checks that the device type exists.
func deviceOf(cell packed.Cell) (dlpack.Device, error) {
	if cell.Code == packed.CodeText || cell.Code == packed.CodeStr {
		name, err := cell.Text()
		if err != nil {
			return dlpack.Device{}, err
		}
		return dlpack.ParseDevice(name)
	}
	d, err := cell.Device()
	if err == nil && !d.Type.Known() {
		err = dlpack.Errorf(dlpack.KindValue, "want a device type of DLPack, got %d", d.Type)
	}
	return d, err
}

// checkList checks a list, and each of its elements, against a slot.
func (c *Call) checkList(s *slot, cell packed.Cell, i int) *refusal {
	if s.array != nil && cell.Code == packed.CodeTensor {
		return c.checkArray(s, cell, i)
	}
	list, err := cell.List()
	if dlpack.KindOf(err) == TypeError {
		return &refusal{Kind: TypeError, Msg: "want " + s.want + ", got " + described(cell, s)}
	}
	if err != nil {
		return &refusal{Kind: dlpack.KindOf(err), Msg: dlpack.MessageOf(err)}
	}
	for k := range list.Len() {
		var r *refusal
		if s.elem.Kind == KindTensor {
			r = c.checkTensor(s.elem, list.At(k), list.FlagsAt(k), position{i, k})
		} else {
			r = checkScalar(s.elem, list.At(k))
		}
		if r != nil {
			r.Msg = "element " + strconv.Itoa(k) + ": " + r.Msg
			return r
		}
	}
	return nil
}
