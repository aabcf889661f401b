package exchange

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/internal/memory"
)

// Convert returns t's memory as an object of like's library: like is an array type, or an object of one. A tensor that the
// library cannot take without a copy is a BufferError; a like that is not an array is a TypeError.
//
// GIL: held; runs the other library's Python code.
// Owns: t and like stay the caller's; the result is new; on error there is none.
func Convert(t cpython.Tensor, like cpython.Object) (cpython.Object, error) {
	typ := like
	if !like.IsType() {
		typ = like.Type()
	}
	typ = typ.Retain() // like's own code may change its class
	defer typ.Release()
	if typ == t.Object().Type() {
		return t.Object().Retain(), nil
	}
	var made cpython.Object
	var err error
	if table := Find(typ); table.Exists() {
		made, err = makeByTable(t, typ, table)
	} else if root(typ) == "numpy" && proveNumPy() {
		made, err = makeNumPy(t, typ)
	} else {
		made, err = makeByFunction(t, typ)
	}
	if err != nil {
		return made, err
	}
	if like.IsType() && !made.IsInstance(like) {
		defer made.Release()
		return cpython.Object{}, dlpack.Errorf(dlpack.KindType, "to() argument 'like': %s is not the type of an array (its library makes %s)", typ.Name(), made.Type().Name())
	}
	return made, nil
}

// CanConvertTo reports whether Convert may make objects of a type: whether the type's library imports DLPack tensors.
//
// GIL: held; no exception may be pending.
func CanConvertTo(typ cpython.Object) bool {
	function := cpython.Imported(root(typ)).FindIn("from_dlpack")
	defer function.Release()
	return function.Exists() || root(typ) == "jax" || root(typ) == "jaxlib" || Find(typ).Exists()
}

func makeByTable(t cpython.Tensor, typ cpython.Object, table cpython.Table) (cpython.Object, error) {
	torch := guarded(typ)
	switch {
	case t.ReadOnly():
		return cpython.Object{}, readOnly(typ)
	case torch && !torchDevices[t.Record().Device.Type]:
		return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "%s does not support memory on %s", typ.Name(), t.Record().Device)
	case torch && negative(t.Record().StridesSlice()):
		return cpython.Object{}, dlpack.Errorf(dlpack.KindBuffer, "%s does not support negative strides, got %v; use .contiguous()", typ.Name(), t.Record().StridesSlice())
	}
	made, err := table.Make(t)
	if err != nil {
		return made, refused(t, typ)
	}
	if made.Type() == typ { // the table of a base class may make objects of the base class
		cpython.SetPlan(typ, cpython.Plan{Protocol: cpython.ByTable, Table: table, Guarded: torch, Foreign: foreign(typ)})
	}
	return made, nil
}

// torchDevices are the device types whose memory torch imports correctly; others crash it, or give it a wrong device.
var torchDevices = map[dlpack.DeviceType]bool{
	dlpack.CPU: true, dlpack.CUDA: true, dlpack.CUDAHost: true, dlpack.CUDAManaged: true, dlpack.ROCm: true, dlpack.ROCmHost: true, dlpack.OneAPI: true,
}

func readOnly(typ cpython.Object) error {
	return dlpack.Errorf(dlpack.KindBuffer, "the tensor is read-only, and %s would be writable; use .copy()", typ.Name())
}

func negative(strides []int64) bool {
	for _, s := range strides {
		if s < 0 {
			return true
		}
	}
	return false
}

// refused turns the pending exception of another library into a BufferError that quotes it.
func refused(t cpython.Tensor, typ cpython.Object) error {
	e := cpython.TakeError()
	defer e.Drop()
	rec := t.Record()
	return dlpack.Errorf(dlpack.KindBuffer, "%s cannot take this tensor (%s, shape %v, strides %v, on %s) without a copy: %s",
		typ.Name(), rec.DType, rec.ShapeSlice(), rec.StridesSlice(), rec.Device, e.Text())
}

// makeNumPy makes an ndarray by the fast path, or by NumPy's from_dlpack if the fast path cannot.
func makeNumPy(t cpython.Tensor, typ cpython.Object) (cpython.Object, error) {
	made, err := cpython.ToNumPy(t)
	switch {
	case err != nil:
		return made, refused(t, typ)
	case made.Exists():
		return made, nil
	}
	return makeByFunction(t, typ)
}

// makeByFunction calls the from_dlpack of the module that a type is from.
func makeByFunction(t cpython.Tensor, typ cpython.Object) (cpython.Object, error) {
	module := root(typ)
	if module == "jax" || module == "jaxlib" {
		return makeJAX(t, typ)
	}
	function := cpython.Imported(module).FindIn("from_dlpack")
	if !function.Exists() {
		return function, dlpack.Errorf(dlpack.KindType, "to() argument 'like': want an array type, an array or a device, got %s", typ.Name())
	}
	defer function.Release()
	if t.ReadOnly() && module != "numpy" { // NumPy is the only library known to respect the flag
		return cpython.Object{}, readOnly(typ)
	}
	made, err := function.Call([]cpython.Object{t.Object()})
	if err != nil {
		return made, refused(t, typ)
	}
	return made, nil
}

// makeJAX makes a jax array. jax takes only legacy capsules, which have no read-only flag; since jax never writes to its
// arrays, it may still import a read-only tensor. copy=False: without it, jax silently copies memory that is not aligned to
// 64 bytes.
func makeJAX(t cpython.Tensor, typ cpython.Object) (cpython.Object, error) {
	module, err := cpython.Import("jax.dlpack")
	if err != nil {
		return module, err
	}
	defer module.Release()
	lent, err := t.Alias(t.Flags() &^ dlpack.ReadOnly)
	if err != nil {
		return lent, err
	}
	defer lent.Release()
	never := cpython.Bool(false)
	defer never.Release()
	made, err := module.CallMethod("from_dlpack", []cpython.Object{lent}, cpython.Keyword{Name: "copy", Value: never})
	if err != nil {
		return made, refused(t, typ)
	}
	return made, nil
}

// Move returns t on another device: itself if it is there already, else a copy.
//
// GIL: held; released while much memory is copied.
// Owns: t stays the caller's; the result is new; on error (BufferError: no route) there is none.
func Move(t cpython.Tensor, to dlpack.Device) (cpython.Object, error) {
	from := t.Record().Device
	if from == to {
		return t.Object().Retain(), nil
	}
	return memory.Copy(t, to)
}
