package kernel

import (
	"math"
	"slices"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/packed"
)

// The largest number of names of each sort in a declaration: they have places in every Call.
const (
	maxVars  = 8
	maxNames = 16
)

// A plan is a declaration compiled by Prepare, so that a call only compares numbers.
type plan struct {
	params  []slot
	results []slot
	vars    []string // the type variables
	names   []string // the names of extents
	mutable bool     // some tensor is written

	exclusive bool // some argument may be an exclusive object; set by resolve

	later *Func // of an async function: the same with the results that are awaited
}

// A slot is what a call needs of one parameter, or of the elements of a list.
type slot struct {
	*Param
	want     string // the expectation in error texts
	elem     *slot
	array    *slot    // of a list of numbers: an array in its place
	min, max int64    // of ints
	classes  []*class // of objects; set by resolve

	variable int // index in plan.vars, -1 for none
	anyRank  bool
	before   []axis // extents before "...", or all
	after    []axis // extents after it
	ellipsis bool
	host     bool // the host must access the memory
	device   dlpack.DeviceType

	plain     bool              // Call.fitsPlain may handle it
	where     dlpack.DeviceType // the device that it requires; 0: the host, or a CUDA device
	mask      dlpack.Flags      // the flags that it checks, of which only Checked may be set
	read      unsafe.Pointer    // the Go type that a function has read its only dtype as; atomic
	unaligned uintptr           // the address bits that are 0 for all its dtypes
}

// An axis is a compiled Extent.
type axis struct {
	name  int   // index in plan.names, or fixed or any
	value int64 // if fixed
}

const (
	fixed = -1 - iota
	anyExtent
)

// newPlan checks the declaration and compiles it.
func newPlan(f *Func) (*plan, error) {
	if !identifier(f.Name) {
		return nil, valueError("name: want a Python identifier, got %q", f.Name)
	}
	if f.Do == nil {
		return nil, valueError("Do: want a function, got nil")
	}
	if err := checkLike(f); err != nil {
		return nil, err
	}
	if err := checkRole(f); err != nil {
		return nil, err
	}
	p := &plan{params: make([]slot, len(f.Params))}
	seen := map[string]bool{}
	for i := range f.Params {
		param := &f.Params[i]
		if seen[param.Name] || !identifier(param.Name) {
			return nil, valueError("parameter %d: want a Python identifier of its own, got %q", i, param.Name)
		}
		seen[param.Name] = true
		if err := checkPassing(f.Params, i); err != nil {
			return nil, dlpack.Wrap(err, "parameter "+param.Name)
		}
		if err := p.compile(&p.params[i], param, false); err != nil {
			return nil, dlpack.Wrap(err, "parameter "+param.Name)
		}
	}
	if err := p.compileResults(f.Results); err != nil || !f.awaited() {
		return p, err
	}
	later := *f
	later.Results, later.Awaits, later.Async = f.Awaits, nil, false
	var err error
	later.plan, err = newPlan(&later)
	p.later = &later
	return p, err
}

// checkPassing checks parameter i against those before it, by Python's rules. A variadic one has the empty list as its default.
func checkPassing(params []Param, i int) error {
	p := &params[i]
	switch p.Passing {
	case ByPosition:
		if i > 0 && params[i-1].Passing != ByPosition {
			return valueError("want it before %s, which is not passed by position", params[i-1].Name)
		}
		if p.Default == nil && i > 0 && params[i-1].Default != nil {
			return valueError("want a default, as %s before it has one", params[i-1].Name)
		}
	case Variadic:
		if p.Default != nil && p.Default != noMore || slices.ContainsFunc(params[:i], func(p Param) bool { return p.Passing == Variadic }) {
			return valueError("want one variadic parameter, without a default")
		}
		if elem, _ := p.element(); elem == "" {
			return valueError("want a list as a variadic parameter")
		}
		p.Default = noMore
	case KeywordOnly:
	default:
		return valueError("want a way of passing, got %q", p.Passing)
	}
	return nil
}

// noMore is the default of variadic parameters.
var noMore = DefaultOf([]string{})

// Frameworks lists the values of Func.Like.
var Frameworks = []string{"godlpack", "numpy", "torch", "jax", "cupy"}

func checkLike(f *Func) error {
	if f.Like != "" && !slices.Contains(Frameworks, f.Like) {
		return valueError("like: want one of %v, got %q", Frameworks, f.Like)
	}
	if f.Like != "" && !f.returnsTensor() {
		return valueError("like: want a tensor among the results")
	}
	return nil
}

// checkRole checks what a function is to its class.
func checkRole(f *Func) error {
	first := len(f.Params) > 0 && f.Params[0].Kind == KindObject && slices.Equal(f.Params[0].Classes, []string{f.Class})
	switch f.Role {
	case FreeFunction:
		if f.Class != "" {
			return valueError("want a role in the class %s, got none", f.Class)
		}
	case Method, Getter, Setter:
		if !first || f.Params[0].Name != "self" {
			return valueError("want %s as the first parameter, named self", f.Class)
		}
	case Constructor:
		if len(f.Results) != 1 || f.Results[0].Kind != KindObject || !slices.Equal(f.Results[0].Classes, []string{f.Class}) {
			return valueError("want %s as the only result of its constructor", f.Class)
		}
	case Static:
	case Next:
		if len(f.Params) != 2 || !slices.Equal(f.Params[0].Classes, []string{IteratorClass}) || f.Params[1].Kind != KindInt {
			return valueError("want an iterator and a number as the parameters of its next")
		}
	case Feed:
		if len(f.Params) != 2 || !slices.Equal(f.Params[0].Classes, []string{SequenceClass}) {
			return valueError("want a sequence and a list as the parameters of its feed")
		}
	case Result:
		if len(f.Params) != 1 || !slices.Equal(f.Params[0].Classes, []string{TaskClass}) {
			return valueError("want a task as the parameter of its result")
		}
	default:
		return valueError("want a role, got %q", f.Role)
	}
	switch {
	case f.Role != FreeFunction && !f.Role.hidden() && !identifier(f.Class):
		return valueError("want the Python name of a class, got %q", f.Class)
	case f.Place != nil && f.Role != Getter:
		return valueError("want a place for getters alone")
	case f.Role == Setter && len(f.Params) == 2 && f.Params[1].Passing != ByPosition:
		return valueError("want a setter of self and a value")
	case f.Role == Getter && (len(f.Params) != 1 || len(f.Results) != 1), f.Role == Setter && (len(f.Params) != 2 || len(f.Results) != 0):
		return valueError("want a getter of self and one result, or a setter of self and a value")
	}
	return nil
}

// resolve finds the classes of parameters and results among the registered ones.
func (p *plan) resolve() error {
	for _, slots := range [][]slot{p.params, p.results} {
		for i := range slots {
			s := &slots[i]
			if err := s.resolve(); err != nil {
				return err
			}
			p.exclusive = p.exclusive || s.isExclusive() || s.elem != nil && s.elem.isExclusive()
		}
	}
	if p.later != nil {
		return p.later.plan.resolve()
	}
	return nil
}

func (s *slot) resolve() error {
	if s.elem != nil {
		return s.elem.resolve()
	}
	for _, name := range s.Classes {
		class := classNamed(name)
		if class == nil {
			return valueError("%s: no class %s is registered", s.Name, name)
		}
		s.classes = append(s.classes, class)
	}
	return nil
}

// compileResults checks and compiles the declarations of the results, for documentation, hosts and the checks of a call.
func (p *plan) compileResults(results []Param) error {
	p.results = make([]slot, len(results))
	for i := range results {
		if err := p.compile(&p.results[i], &results[i], false); err != nil {
			return dlpack.Wrap(err, "result")
		}
	}
	return nil
}

// compile fills a slot.
func (p *plan) compile(s *slot, param *Param, nested bool) error {
	*s = slot{Param: param, variable: -1}
	var err error
	switch param.Kind {
	case KindTensor:
		err = p.compileTensor(s)
	case KindList:
		if nested || param.Elem == nil {
			return valueError("want a list of bool, int, float, str, tensor or object")
		}
		s.elem = new(slot)
		if err = p.compileElem(s.elem, param.Elem); err == nil {
			err = p.compileArray(s)
		}
	case KindInt:
		s.min, s.max, err = limits(param)
	case KindObject:
		if len(param.Classes) == 0 {
			return valueError("want the classes of an object, got none")
		}
	case KindValue:
		if param.Type == nil {
			return valueError("want the type of a value, got none")
		}
	default:
		if param.Kind == 0 || int(param.Kind) >= len(kindNames) {
			return valueError("want a kind, got %d", param.Kind)
		}
	}
	s.want = wanted(param)
	if err == nil && param.Default != nil {
		err = s.checkDefault()
	}
	return err
}

func (p *plan) compileElem(s *slot, elem *Param) error {
	kinds := []Kind{KindBool, KindInt, KindFloat, KindString, KindTensor, KindObject}
	if !slices.Contains(kinds, elem.Kind) || elem.Default != nil || elem.Optional {
		return valueError("want a list of bool, int, float, str, tensor or object, got one of %v", elem.Kind)
	}
	return p.compile(s, elem, true)
}

// checkDefault checks a default against the parameter. A tensor's can only be None.
func (s *slot) checkDefault() error {
	cell := s.Default.cell
	if s.Default.ByFunction() {
		return nil
	}
	if cell.Code == packed.CodeNull && !s.Optional {
		return valueError("default None: want an optional parameter")
	}
	c := Call{args: packed.Slices([]packed.Value{cell.Value}, []packed.Code{cell.Code}, nil)}
	if msg := c.checkCell(s, cell, 0); msg != nil {
		return valueError("default %s: %s", s.Default.Text, msg.Msg)
	}
	return nil
}

// limits returns the smallest and the largest number of an int's width.
func limits(p *Param) (lowest, highest int64, err error) {
	bits := p.Bits
	if bits == 0 {
		bits = 64
	}
	if !slices.Contains([]int{8, 16, 32, 64}, bits) {
		return 0, 0, valueError("want an int of 8, 16, 32 or 64 bits, got %d", bits)
	}
	highest = math.MaxInt64 >> (64 - bits)
	if !p.Unsigned {
		return -highest - 1, highest, nil
	}
	if bits < 64 {
		highest = 2*highest + 1
	}
	return 0, highest, nil // also for 64 bits: larger numbers have packed.CodeUint
}

func (p *plan) compileTensor(s *slot) error {
	if err := s.checkTypes(); err != nil {
		return err
	}
	if !slices.Contains([]Order{AnyOrder, RowMajor, ColumnMajor}, s.Order) {
		return valueError("order %q: want C, F or none", s.Order)
	}
	if err := s.compileDevice(); err != nil {
		return err
	}
	if s.Convert && (s.Mutable || !s.host) {
		return valueError("convert: want a tensor that is not mutable, in memory of the host")
	}
	p.mutable = p.mutable || s.Mutable
	var ok bool
	if s.Var != "" {
		if s.variable, ok = place(&p.vars, s.Var, maxVars); !ok {
			return valueError("want at most %d type variables", maxVars)
		}
	}
	s.compilePlain()
	return p.compileShape(s)
}

func (s *slot) compilePlain() {
	s.plain, s.mask, s.where = len(s.DTypes) > 0, packed.Checked, s.device
	if s.host && s.device == 0 {
		s.where = dlpack.CPU
	}
	if s.Mutable {
		s.mask |= dlpack.ReadOnly
	}
	for _, d := range s.DTypes {
		s.plain = s.plain && !d.SubByte()
		s.unaligned |= uintptr(d.Align() - 1)
	}
}

func (s *slot) checkTypes() error {
	for _, d := range s.DTypes {
		if err := d.Valid(); err != nil {
			return valueError("%s", dlpack.MessageOf(err))
		}
	}
	return nil
}

func (s *slot) compileDevice() error {
	switch s.Device {
	case "any":
	case "", "cpu":
		s.host = true
	default:
		device, err := dlpack.ParseDevice(s.Device)
		if err != nil {
			return err
		}
		s.device, s.host = device.Type, device.Type.HostReadable()
	}
	return nil
}

func (p *plan) compileShape(s *slot) error {
	s.anyRank = s.Shape == nil
	to := &s.before
	for _, e := range s.Shape {
		if e == "..." {
			if s.ellipsis {
				return valueError("shape %v: want ... once", s.Shape)
			}
			s.ellipsis, to = true, &s.after
			continue
		}
		a, ok := p.axis(e)
		if !ok {
			return valueError("shape %v: want numbers, at most %d names, *, or ..., got %q", s.Shape, maxNames, string(e))
		}
		*to = append(*to, a)
	}
	return nil
}

// axis compiles one extent.
func (p *plan) axis(e Extent) (axis, bool) {
	if e == "*" {
		return axis{name: anyExtent}, true
	}
	if identifier(string(e)) {
		name, ok := place(&p.names, string(e), maxNames)
		return axis{name: name}, ok
	}
	n, ok := number(string(e))
	return axis{fixed, n}, ok
}

// place returns the index of name in names; it adds a new one if there is room.
func place(names *[]string, name string, most int) (int, bool) {
	i := slices.Index(*names, name)
	if i < 0 {
		i = len(*names)
		*names = append(*names, name)
	}
	return i, i < most
}

func valueError(format string, a ...any) error { return dlpack.Errorf(dlpack.KindValue, format, a...) }
