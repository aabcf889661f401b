package source

import (
	"go/types"

	"godlpack/kernel"
)

// Form is the way in which a value is exchanged with Python: which function of package kernel reads it, and which returns it.
type Form int

// The forms of arguments and results.
const (
	None Form = iota // not exchangeable
	Bool
	Int
	Float
	String
	Bytes
	DType
	Device
	Callable
	Of
	Mut
	DeviceOf
	DeviceMut
	List      // of values of another form
	Object    // a pointer to an exported type
	Interface // an interface that exported types implement
	Tree      // a value that passes as a tree of plain values, such as a map
	Sequence  // an iterable
)

// kinds maps each form to its kernel.Kind.
var kinds = map[Form]kernel.Kind{
	Bool: kernel.KindBool, Int: kernel.KindInt, Float: kernel.KindFloat, String: kernel.KindString,
	Bytes: kernel.KindBytes, DType: kernel.KindDType, Device: kernel.KindDevice, Callable: kernel.KindCallable,
	Of: kernel.KindTensor, Mut: kernel.KindTensor, DeviceOf: kernel.KindTensor, DeviceMut: kernel.KindTensor,
	List: kernel.KindList, Object: kernel.KindObject, Interface: kernel.KindObject, Tree: kernel.KindValue,
	Sequence: kernel.KindCallable,
}

// Tensor reports whether the form is one of the four views.
func (f Form) Tensor() bool { return f >= Of && f <= DeviceMut }

// A Value is an argument or a result.
type Value struct {
	Form    Form
	Type    types.Type   // as written, without the pointer
	Pointer bool         // None becomes nil
	Element types.Type   // of a tensor: float32, or a type parameter
	Items   *Value       // of a list; of a sequence, the list of a batch
	Classes []*Class     // of an object: its class, or those that implement the interface
	Schema  *kernel.Type // of a tree
	Default any          // the argument of kernel.DefaultOf, if the declaration has a default

	Options        *Options // that it is a field of
	OptionsPointer bool     // the function takes a pointer to them
	Field          string   // its name among the options

	id field // the parameter in the source; its name is "" for options
}

// holdsTensor reports whether v is a tensor or a list of tensors.
func (v Value) holdsTensor() bool { return v.Form.Tensor() || v.Form == List && v.Items.Form.Tensor() }

// classNames returns the names of the classes in Python.
func (v Value) classNames() []string {
	var names []string
	for _, c := range v.Classes {
		names = append(names, c.Decl.Name)
	}
	return names
}

// named are the types of godlpack's own packages that can be exchanged.
var named = map[string]Form{
	"godlpack/tensor.Of": Of, "godlpack/tensor.Mut": Mut,
	"godlpack/tensor.DeviceOf": DeviceOf, "godlpack/tensor.DeviceMut": DeviceMut,
	"godlpack/dlpack.DType": DType, "godlpack/dlpack.Device": Device, "godlpack/kernel.Callable": Callable,
}

// valueOf returns the Value of a Go type; its form is None if the type cannot be exchanged.
func valueOf(t types.Type) Value {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		v := valueOf(pointer.Elem())
		if v.Pointer {
			v.Form = None
		}
		v.Pointer = true
		return v
	}
	v := Value{Type: t}
	if name, _ := nameOf(t); name == "time.Duration" {
		return v // a timedelta
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		v.Form = plainForms()[u.Kind()]
	case *types.Slice:
		v.Form, v.Items = listForm(u.Elem())
	case *types.Interface:
		if isFloatParam(t) {
			v.Form = Float
		}
	}
	if name, arguments := nameOf(t); named[name] != None {
		v.Form = named[name]
		if v.Form.Tensor() {
			v.Element = arguments.At(0)
		}
	}
	return v
}

func isSlice(t types.Type) bool {
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// listForm returns the form of a slice by the type of its elements: bytes are not a list, and there are no lists of lists.
func listForm(elem types.Type) (Form, *Value) {
	if isSlice(elem) {
		return None, nil
	}
	if types.Identical(elem, types.Typ[types.Byte]) {
		return Bytes, nil
	}
	items := valueOf(elem)
	switch {
	case items.Pointer:
	case items.Form == Int, items.Form == Of, items.Form == Mut:
		return List, &items
	case items.Form == Bool && isBasic(elem), items.Form == String && isBasic(elem):
		return List, &items
	case items.Form == Float && !isTypeParam(items.Type):
		return List, &items
	}
	return None, nil
}

// nameOf returns "path.Name" of a named type, and its type arguments.
func nameOf(t types.Type) (string, *types.TypeList) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return "", nil
	}
	return n.Obj().Pkg().Path() + "." + n.Obj().Name(), n.TypeArgs()
}

func isBasic(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Basic)
	return ok
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// isFloatParam reports whether t is a type parameter for Go's own floats only: a number of such a type can be converted
// from a float64 without a check.
func isFloatParam(t types.Type) bool {
	param, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return false
	}
	set, listed := typeSet(param.Constraint())
	for _, t := range set {
		basic, ok := t.Underlying().(*types.Basic)
		listed = listed && ok && basic.Info()&types.IsFloat != 0 && elements[t.String()].Bits >= 32
	}
	return listed
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func isContext(t types.Type) bool {
	pointer, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	name, _ := nameOf(pointer.Elem())
	return name == "godlpack/kernel.Ctx"
}
