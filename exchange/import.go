package exchange

import (
	"slices"
	"strings"

	"godlpack/capsule"
	"godlpack/cuda"
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

// Request is what from_dlpack is asked for besides the tensor.
type Request struct {
	Device *dlpack.Device // nil: wherever it is
	Copy   capsule.Copying

	// For the time of a call only, which reads the memory, or writes it: a tensor that requires grad may do, and to read, a copy of what cannot be shared.
	Reads, Writes bool
}

// asksMore reports whether a producer is asked for more than its memory as it is.
func (r Request) asksMore() bool { return r.Device != nil || r.Copy != capsule.CopyIfNeeded }

// Import makes a Tensor over x's memory: x is a Tensor, an object with an exchange table or __dlpack__, or a live
// DLPack capsule. What cannot be shared as asked is a BufferError, what is no tensor a TypeError; exceptions of x's own
// __dlpack__ come through unchanged (R49).
//
// GIL: held; runs x's Python code.
// Owns: x stays the caller's; the result is new; on error there is none, and nothing of x is held.
func Import(x cpython.Object, r Request) (cpython.Object, error) {
	taken, err := take(x, r)
	if err != nil {
		return cpython.Object{}, err
	}
	return settle(taken, r)
}

// take gets at x's memory by the best protocol that x offers.
func take(x cpython.Object, r Request) (capsule.Imported, error) {
	if t, ok := cpython.TensorOf(x); ok {
		o, err := t.Alias(t.Flags())
		return capsule.Imported{Tensor: o}, err
	}
	if x.IsCapsule() {
		return capsule.Import(x)
	}
	if isArray(x) {
		return takeNumPy(x, r)
	}
	typ := x.Type().Retain() // x's own code may give it another class
	defer typ.Release()
	if guarded(typ) {
		if err := inspect(x, r.questions()); err != nil {
			return capsule.Imported{}, err
		}
	}
	taken, refusal := takeByTable(x, typ)
	if taken.Tensor.Exists() {
		return taken, nil
	}
	method := x.Find("__dlpack__")
	if !method.Exists() {
		if refusal != nil {
			return taken, refusal
		}
		return taken, dlpack.Errorf(dlpack.KindType, "from_dlpack() argument 'x': want a tensor (an object with __dlpack__) or a DLPack capsule, got %s", typ.Name())
	}
	defer method.Release()
	return takeByMethod(x, method, r)
}

// takeByTable takes x by its type's table, if there is one, and writes the plan for the next object of the type. The
// error is why the table did not do; x may still have __dlpack__ (R67).
func takeByTable(x, typ cpython.Object) (capsule.Imported, error) {
	table := Find(typ)
	if !table.Exists() {
		return capsule.Imported{}, nil
	}
	m, err := table.Take(x)
	if err != nil {
		e := cpython.TakeError()
		defer e.Drop()
		return capsule.Imported{}, dlpack.Errorf(dlpack.KindBuffer, "%s: %s", typ.Name(), e.Text())
	}
	if err = capsule.Check(m); err == nil {
		var taken capsule.Imported
		if taken, err = capsule.Wrap(m); err == nil {
			cpython.SetPlan(typ, cpython.Plan{Protocol: cpython.ByTable, Table: table, Guarded: guarded(typ), Foreign: foreign(typ)})
			return taken, nil
		}
	}
	m.Delete()
	return capsule.Imported{}, cpython.Wrap(err, x, "")
}

// takeByMethod calls x.__dlpack__, and writes the plan for the next object of the type: for those that answer the usual
// question with a versioned capsule, that are immutable, or that take the bare question only.
func takeByMethod(x, method cpython.Object, r Request) (capsule.Imported, error) {
	stream := streamFor(x, r)
	defer release(stream)
	c, bare, err := ask(method, r, stream, cpython.TakesNoVersion(x.Type()))
	if err != nil {
		return capsule.Imported{}, err
	}
	defer c.Release()
	taken, err := takeAnswer(x, c)
	more := len(stream) > 0 || bare && r.asksMore() // the fast path passes no stream; who refuses copy= may know max_version
	if err == nil && !more && (bare || taken.Versioned || taken.Immutable) {
		cpython.SetPlan(x.Type(), cpython.Plan{Protocol: methodOrBuffer(x, taken), Immutable: taken.Immutable, Bare: bare})
	}
	return taken, err
}

// ask calls __dlpack__ as the array API says: with all we can say, without copy=True if that was refused, since we can copy
// too (R47), and barely, with nothing, if its TypeError says that it does not know that much (R33): at once if that is known of
// the type. What it then refuses, it may grant to who says more.
func ask(method cpython.Object, r Request, stream []cpython.Keyword, known bool) (c cpython.Object, bare bool, err error) {
	if known {
		c, err = method.Call(nil, stream...)
		if err == nil || !cpython.BlamesArguments() && !cpython.RaisedBufferError() {
			return c, true, err
		}
		cpython.ClearError()
	}
	c, err = question(method, r, stream)
	if err != nil && r.Copy == capsule.CopyAlways && cpython.RaisedBufferError() {
		cpython.ClearError()
		c, err = question(method, Request{Device: r.Device}, stream)
	}
	if err == nil || !cpython.BlamesArguments() {
		return c, false, err
	}
	cpython.ClearError()
	c, err = method.Call(nil, stream...)
	return c, true, err
}

// question calls __dlpack__ for what we want, and says where we are.
func question(method cpython.Object, r Request, stream []cpython.Keyword) (cpython.Object, error) {
	keywords, err := keywordsOf(r)
	if err != nil {
		return cpython.Object{}, err
	}
	defer release(keywords)
	return method.Call(nil, slices.Concat(keywords, stream)...)
}

func release(keywords []cpython.Keyword) {
	for _, k := range keywords {
		k.Value.Release()
	}
}

// TakeAnswer takes the tensor out of what x's __dlpack__ answered to a question that named no stream: on CUDA, ours then
// waits for the default one, for which x's work was made to wait (R28). Errors name x's type. No capsule is a TypeError,
// one without a live DLPack name a ValueError, a tensor that cannot be shared a BufferError.
//
// Owns: x and answer stay the caller's; the result is new and the capsule used; on error there is no result, and the
// capsule's tensor is deleted now or with it.
func TakeAnswer(x, answer cpython.Object) (cpython.Object, error) {
	taken, err := takeAnswer(x, answer)
	if err != nil {
		return cpython.Object{}, err
	}
	t, _ := cpython.TensorOf(taken.Tensor)
	if dev := t.Record().Device; dev.Type == dlpack.CUDA {
		err = memory.WaitProducer(dev, cuda.Legacy)
	}
	if err != nil {
		taken.Tensor.Release()
		return cpython.Object{}, cpython.Wrap(err, x, "")
	}
	return taken.Tensor, nil
}

func takeAnswer(x, answer cpython.Object) (capsule.Imported, error) {
	if !answer.IsCapsule() {
		return capsule.Imported{}, dlpack.Errorf(dlpack.KindType, "%s.__dlpack__() returned %s: want a capsule", x.Type().Name(), answer.Type().Name())
	}
	taken, err := capsule.Import(answer)
	if err != nil {
		return taken, cpython.Wrap(err, x, "")
	}
	return taken, nil
}

// methodOrBuffer chooses the protocol for objects of x's type, of which x was just taken by its method: by buffer if they are
// immutable, and x's buffer has the same memory, shape and strides.
func methodOrBuffer(x cpython.Object, taken capsule.Imported) cpython.Protocol {
	if !taken.Immutable || !proveNumPy() {
		return cpython.ByMethod
	}
	o := cpython.ImportNumPyBuffer(x)
	if !o.Exists() {
		return cpython.ByMethod
	}
	defer o.Release()
	a, _ := cpython.TensorOf(o)
	b, _ := cpython.TensorOf(taken.Tensor)
	r, s := a.Record(), b.Record()
	if r.Address() == s.Address() && r.DType == s.DType && slices.Equal(r.ShapeSlice(), s.ShapeSlice()) && slices.Equal(r.StridesSlice(), s.StridesSlice()) {
		return cpython.ByBuffer
	}
	return cpython.ByMethod
}

// keywordsOf says what we want in __dlpack__'s words; the values are new.
func keywordsOf(r Request) ([]cpython.Keyword, error) {
	version, err := pairOf(int64(dlpack.Current.Major), int64(dlpack.Current.Minor))
	if err != nil {
		return nil, err
	}
	keywords := []cpython.Keyword{{Name: "max_version", Value: version}}
	if r.Device != nil {
		device, err := pairOf(int64(r.Device.Type), int64(r.Device.ID))
		if err != nil {
			version.Release()
			return nil, err
		}
		keywords = append(keywords, cpython.Keyword{Name: "dl_device", Value: device})
	}
	if r.Copy != capsule.CopyIfNeeded {
		keywords = append(keywords, cpython.Keyword{Name: "copy", Value: cpython.Bool(r.Copy == capsule.CopyAlways)})
	}
	return keywords, nil
}

func pairOf(a, b int64) (cpython.Object, error) {
	items := []cpython.Object{cpython.Int(a), cpython.Int(b)}
	defer cpython.ReleaseAll(items)
	return cpython.TupleOf(items)
}

// settle gives the caller what was asked for where the producer did not: a copy (R47), memory on the CPU.
func settle(taken capsule.Imported, r Request) (cpython.Object, error) {
	t, _ := cpython.TensorOf(taken.Tensor)
	dev := t.Record().Device
	moves := r.Device != nil && *r.Device != dev
	if !moves && (r.Copy != capsule.CopyAlways || taken.Copied && !t.ReadOnly()) { // jax's own copies are read-only
		return taken.Tensor, nil
	}
	defer taken.Tensor.Release()
	if moves && r.Copy == capsule.CopyNever {
		return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "moving from %s to %s needs a copy, and copy=False", dev, *r.Device)
	}
	if moves {
		return memory.Copy(t, *r.Device)
	}
	return capsule.Copy(t)
}

// root returns the first part of the name of the module that a type is from: "torch", "numpy", "jaxlib".
func root(typ cpython.Object) string {
	name, _, _ := strings.Cut(typ.Module(), ".")
	return name
}
