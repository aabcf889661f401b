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

// Request is the arguments of from_dlpack besides the tensor.
type Request struct {
	Device *dlpack.Device // nil: wherever it is
	Copy   capsule.Copying

	// For the time of one call only, which reads or writes the memory: such a call may use a tensor that requires grad, and,
	// to read, a copy of memory that cannot be shared.
	Reads, Writes bool
}

// hasDeviceOrCopy reports whether a request has more than the defaults: a device, or a value of copy.
func (r Request) hasDeviceOrCopy() bool { return r.Device != nil || r.Copy != capsule.CopyIfNeeded }

// Import makes a Tensor over x's memory: x is a Tensor, an object with an exchange table or __dlpack__, or a live
// DLPack capsule. Memory that cannot be shared as requested is a BufferError, an x that is not a tensor a TypeError;
// exceptions of x's own __dlpack__ are passed on unchanged (R49).
//
// GIL: held; runs x's Python code.
// Owns: x stays the caller's; the result is new; on error there is none, and nothing of x is held.
func Import(x cpython.Object, r Request) (cpython.Object, error) {
	taken, err := take(x, r)
	if err != nil {
		return cpython.Object{}, err
	}
	return copyOrMove(taken, r)
}

// take imports x by the fastest protocol that x has.
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
	typ := x.Type().Retain() // x's own code may change its class
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

// takeByTable imports x by its type's table, if there is one, and sets the plan for the next object of the type. The error
// is the reason why the table failed; x may still have __dlpack__ (R67).
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

// takeByMethod calls x.__dlpack__, and sets the plan for the next object of the type if the result was a versioned capsule
// or is immutable, or if the type is bare.
func takeByMethod(x, method cpython.Object, r Request) (capsule.Imported, error) {
	stream := streamFor(x, r)
	defer release(stream)
	c, bare, err := ask(method, r, stream, cpython.TakesNoVersion(x.Type()))
	if err != nil {
		return capsule.Imported{}, err
	}
	defer c.Release()
	taken, err := takeAnswer(x, c)
	more := len(stream) > 0 || bare && r.hasDeviceOrCopy() // the fast path passes no stream; what refuses copy= may take max_version
	if err == nil && !more && (bare || taken.Versioned || taken.Immutable) {
		cpython.SetPlan(x.Type(), cpython.Plan{Protocol: methodOrBuffer(x, taken), Immutable: taken.Immutable, Bare: bare})
	}
	return taken, err
}

// ask calls __dlpack__ as the array API specifies: with all arguments; without copy=True if that was refused, since godlpack
// can copy too (R47); and bare, with the stream at most, if a TypeError blames the arguments (R33). If known, the bare call
// comes first; if it fails with such a TypeError or a BufferError, the call with all arguments follows.
func ask(method cpython.Object, r Request, stream []cpython.Keyword, known bool) (c cpython.Object, bare bool, err error) {
	if known {
		c, err = method.Call(nil, stream...)
		if err == nil || !cpython.BlamesArguments() && !cpython.RaisedBufferError() {
			return c, true, err
		}
		cpython.ClearError()
	}
	c, err = callDLPack(method, r, stream)
	if err != nil && r.Copy == capsule.CopyAlways && cpython.RaisedBufferError() {
		cpython.ClearError()
		c, err = callDLPack(method, Request{Device: r.Device}, stream)
	}
	if err == nil || !cpython.BlamesArguments() {
		return c, false, err
	}
	cpython.ClearError()
	c, err = method.Call(nil, stream...)
	return c, true, err
}

// callDLPack calls __dlpack__ with the arguments of a request, and with the stream.
func callDLPack(method cpython.Object, r Request, stream []cpython.Keyword) (cpython.Object, error) {
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

// TakeAnswer imports the result of x's __dlpack__ after a call without a stream: on CUDA, the current stream then waits for
// the default one, which waits for x's work (R28). Errors name x's type. A result that is not a capsule is a TypeError, one
// without a live DLPack name a ValueError, a tensor that cannot be shared a BufferError.
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

// methodOrBuffer returns the protocol for the type of x, which was just imported by its method: by buffer if x is immutable,
// and its buffer has the same memory, dtype, shape and strides.
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

// keywordsOf returns a request as keyword arguments of __dlpack__; the values are new.
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

// copyOrMove does what a request asks for and the producer did not do: a copy (R47), a move to another device.
func copyOrMove(taken capsule.Imported, r Request) (cpython.Object, error) {
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
	return memory.Clone(t)
}

// root returns the first part of the name of a type's module: "torch", "numpy", "jaxlib".
func root(typ cpython.Object) string {
	name, _, _ := strings.Cut(typ.Module(), ".")
	return name
}
