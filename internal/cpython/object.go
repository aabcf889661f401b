package cpython

// #include "core.h"
import "C"

import (
	"slices"
	"unsafe"
)

// Object is a reference to a Python object; the zero Object is none. The function that returns it states who owns it.
type Object struct{ p *C.PyObject }

// Exists reports whether o is an object at all.
func (o Object) Exists() bool { return o.p != nil }

// Address returns the address of the object.
func (o Object) Address() uintptr { return uintptr(unsafe.Pointer(o.p)) }

// None returns Python's None.
//
// Owns: the result is new.
func None() Object { return Object{&C._Py_NoneStruct}.Retain() }

// NotImplemented returns Python's NotImplemented, by which a comparison leaves the result to the other operand.
//
// Owns: the result is new.
func NotImplemented() Object { return Object{&C._Py_NotImplementedStruct}.Retain() }

// IsNone reports whether o is None.
func (o Object) IsNone() bool { return o.p == &C._Py_NoneStruct }

// Given reports whether o is an argument that was passed and is not None.
func (o Object) Given() bool { return o.Exists() && !o.IsNone() }

// IsEllipsis reports whether o is Ellipsis.
func (o Object) IsEllipsis() bool { return o.p == &C._Py_EllipsisObject }

// Retain adds a reference to o and returns it.
//
// Owns: the result is new.
func (o Object) Retain() Object {
	C.Py_IncRef(o.p)
	return o
}

// Release drops a reference; the zero Object is allowed.
//
// GIL: held; may run any Python code.
// Owns: takes the caller's reference.
func (o Object) Release() {
	if o.p != nil {
		C.Py_DecRef(o.p)
	}
}

// Type returns o's exact type. o's own code may change o's class, which may free the old one: Retain it before such code runs.
//
// Owns: the result is borrowed from o.
func (o Object) Type() Object { return Object{(*C.PyObject)(unsafe.Pointer(o.p.ob_type))} }

// IsType reports whether o is itself a type.
func (o Object) IsType() bool {
	return C.PyType_GetFlags(o.p.ob_type)&(1<<31) != 0 // Py_TPFLAGS_TYPE_SUBCLASS
}

func (o Object) is(t *C.PyTypeObject) bool {
	return o.p.ob_type == t || C.PyType_IsSubtype(o.p.ob_type, t) != 0
}

// The built-in types that arguments are distinguished by; subclasses count.
func (o Object) IsTuple() bool   { return o.is(&C.PyTuple_Type) }
func (o Object) IsSlice() bool   { return o.is(&C.PySlice_Type) }
func (o Object) IsStr() bool     { return o.is(&C.PyUnicode_Type) }
func (o Object) IsInt() bool     { return o.is(&C.PyLong_Type) }
func (o Object) IsFloat() bool   { return o.is(&C.PyFloat_Type) }
func (o Object) IsComplex() bool { return o.is(&C.PyComplex_Type) }
func (o Object) IsBool() bool    { return o.is(&C.PyBool_Type) }
func (o Object) IsCapsule() bool { return o.is(&C.PyCapsule_Type) }
func (o Object) IsDType() bool   { return o.p.ob_type == C.gd_dtype_type }
func (o Object) IsDevice() bool  { return o.p.ob_type == C.gd_device_type }

// IsIndex reports whether o is an integer of any type (has __index__).
func (o Object) IsIndex() bool { return C.PyIndex_Check(o.p) != 0 }

// IsSequence reports whether o supports the sequence protocol.
func (o Object) IsSequence() bool { return C.PySequence_Check(o.p) != 0 }

// Name returns a type's name with its module, such as "torch.Tensor", or "?" if it has none.
func (o Object) Name() string {
	name := o.textAttr("__qualname__")
	if module := o.Module(); module != "builtins" && module != "" {
		return module + "." + name
	}
	return name
}

// Module returns a type's __module__, "" if that is missing or not a str.
func (o Object) Module() string { return o.textAttr("__module__") }

// Has reports whether o has an attribute; an attribute that cannot be read counts as missing.
//
// GIL: held; may run o's Python code; no exception may be pending.
func (o Object) Has(name string) bool {
	a := o.Find(name)
	defer a.Release()
	return a.Exists()
}

func (o Object) textAttr(name string) string {
	a := o.Find(name)
	defer a.Release()
	if !a.Exists() || !a.IsStr() {
		return ""
	}
	return a.StrValue()
}

// Attr reads an attribute.
//
// Owns: the result is new; on ErrRaised there is none.
func (o Object) Attr(name string) (Object, error) {
	key := nameObject(name)
	if !key.Exists() {
		return Object{}, ErrRaised
	}
	defer key.Release()
	return raisedIfNil(C.PyObject_GetAttr(o.p, key.p))
}

// Find reads an attribute that may be missing: on any error, the result is the zero Object.
//
// GIL: held; no exception may be pending.
// Owns: the result is new.
func (o Object) Find(name string) Object {
	a, err := o.Attr(name)
	if err != nil {
		ClearError()
	}
	return a
}

// Keyword is one keyword argument of a call.
type Keyword struct {
	Name  string
	Value Object // borrowed
}

// Call calls o.
//
// Owns: the arguments stay the caller's; the result is new; on ErrRaised there is none.
func (o Object) Call(args []Object, keywords ...Keyword) (Object, error) {
	tuple, err := TupleOf(args)
	if err != nil {
		return Object{}, err
	}
	defer tuple.Release()
	if len(keywords) == 0 {
		return raisedIfNil(C.PyObject_Call(o.p, tuple.p, nil))
	}
	dict, err := dictOf(keywords)
	if err != nil {
		return Object{}, err
	}
	defer dict.Release()
	return raisedIfNil(C.PyObject_Call(o.p, tuple.p, dict.p))
}

// CallMethod calls o.name.
//
// Owns: as for Call.
func (o Object) CallMethod(name string, args []Object, keywords ...Keyword) (Object, error) {
	method, err := o.Attr(name)
	if err != nil {
		return Object{}, err
	}
	defer method.Release()
	return method.Call(args, keywords...)
}

func dictOf(keywords []Keyword) (Object, error) {
	dict, err := raisedIfNil(C.PyDict_New())
	if err != nil {
		return Object{}, err
	}
	for _, k := range keywords {
		key := textObject(k.Name)
		failed := !key.Exists() || C.PyDict_SetItem(dict.p, key.p, k.Value.p) != 0
		key.Release()
		if failed {
			dict.Release()
			return Object{}, ErrRaised
		}
	}
	return dict, nil
}

// TupleOf makes a tuple. An item that is the zero Object means that a Python exception is pending.
//
// Owns: the items stay the caller's; the result is new; on ErrRaised there is none.
func TupleOf(items []Object) (Object, error) {
	if slices.Contains(items, Object{}) {
		return Object{}, ErrRaised
	}
	tuple, err := raisedIfNil(C.PyTuple_New(C.Py_ssize_t(len(items))))
	if err != nil {
		return Object{}, err
	}
	for i, item := range items {
		if C.PyTuple_SetItem(tuple.p, C.Py_ssize_t(i), item.Retain().p) != 0 {
			tuple.Release()
			return Object{}, ErrRaised
		}
	}
	return tuple, nil
}

// ListOf makes a list of n items, each by a call of item; a zero Object means that a Python exception is pending. The items
// use only Python's memory: if that runs out, it is an error, while Go would end the process.
//
// Owns: takes each item; the result is new; on error there is none.
func ListOf(n int64, item func(i int64) (Object, error)) (Object, error) {
	list, err := raisedIfNil(C.PyList_New(C.Py_ssize_t(n)))
	for i := int64(0); err == nil && i < n; i++ {
		var o Object
		if o, err = item(i); err == nil && o == (Object{}) {
			err = ErrRaised
		}
		if err == nil {
			C.PyList_SetItem(list.p, C.Py_ssize_t(i), o.p)
		}
	}
	if err != nil {
		list.Release()
		return Object{}, err
	}
	return list, nil
}

// ReleaseAll releases each of items.
//
// Owns: takes the items.
func ReleaseAll(items []Object) {
	for _, item := range items {
		item.Release()
	}
}

// Items returns the items of a sequence.
//
// Owns: the results are new (ReleaseAll); on ErrRaised there are none.
func (o Object) Items() ([]Object, error) {
	n := C.PySequence_Size(o.p)
	if n < 0 {
		return nil, ErrRaised
	}
	items := make([]Object, 0, n)
	for i := C.Py_ssize_t(0); i < n; i++ {
		item, err := raisedIfNil(C.PySequence_GetItem(o.p, i))
		if err != nil {
			ReleaseAll(items)
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// AsTuple returns tuple(o).
//
// GIL: held; runs Python code.
// Owns: the result is new; on ErrRaised there is none.
func (o Object) AsTuple() (Object, error) { return raisedIfNil(C.PySequence_Tuple(o.p)) }

// IsInstance reports whether o is an instance of class; an error counts as no.
//
// GIL: held; no exception may be pending.
func (o Object) IsInstance(class Object) bool {
	answer := C.PyObject_IsInstance(o.p, class.p)
	if answer < 0 {
		ClearError()
	}
	return answer > 0
}

// Truth returns bool(o).
func (o Object) Truth() (bool, error) {
	answer := C.PyObject_IsTrue(o.p)
	if answer < 0 {
		return false, ErrRaised
	}
	return answer > 0, nil
}

// Import imports a module.
//
// GIL: held; runs Python code.
// Owns: the result is new; on ErrRaised there is none.
func Import(module string) (Object, error) {
	name := textObject(module)
	if !name.Exists() {
		return Object{}, ErrRaised
	}
	defer name.Release()
	return raisedIfNil(C.PyImport_Import(name.p))
}

// Imported returns a module if it was imported before, else the zero Object.
//
// Owns: the result is borrowed from sys.modules.
func Imported(module string) Object {
	key := textObject(module)
	if !key.Exists() {
		ClearError()
		return Object{}
	}
	defer key.Release()
	found := C.PyDict_GetItemWithError(C.PyImport_GetModuleDict(), key.p)
	if found == nil {
		ClearError()
	}
	return Object{found}
}

// FindIn is Find on an object that may be the zero Object.
//
// GIL: held; no exception may be pending.
// Owns: the result is new.
func (o Object) FindIn(name string) Object {
	if !o.Exists() {
		return o
	}
	return o.Find(name)
}

// IsCallable reports whether o can be called.
func (o Object) IsCallable() bool { return C.PyCallable_Check(o.p) != 0 }

// CallIn calls o.name(args...) on an object that may be the zero Object, which means that a Python exception is pending.
//
// Owns: args stay the caller's; the result is new; on ErrRaised there is none.
func (o Object) CallIn(name string, args ...Object) (Object, error) {
	if !o.Exists() {
		return o, ErrRaised
	}
	return o.CallMethod(name, args)
}
