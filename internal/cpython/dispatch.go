package cpython

// #include "core.h"
import "C"

import (
	"runtime/debug"
	"unsafe"

	"godlpack/dlpack"
	"godlpack/internal/gcstress"
)

// Op is the number of an operation of ops.h.
type Op int

// The operations, grouped by the Python type that has them.
const (
	OpEmpty        Op = C.GD_OP_module_empty
	OpZeros        Op = C.GD_OP_module_zeros
	OpFull         Op = C.GD_OP_module_full
	OpAsArray      Op = C.GD_OP_module_asarray
	OpFromDLPack   Op = C.GD_OP_module_from_dlpack
	OpGetBuildInfo Op = C.GD_OP_module_get_build_info
	OpLayout       Op = C.GD_OP_module_layout
	OpRebuild      Op = C.GD_OP_module_rebuild
	OpCounters     Op = C.GD_OP_module_counters
	OpThreads      Op = C.GD_OP_module_threads
	OpImportAnswer Op = C.GD_OP_module_import_answer
	OpWrapManaged  Op = C.GD_OP_module_wrap_managed
	OpMakeDType    Op = C.GD_OP_module_make_dtype
	OpMakeDevice   Op = C.GD_OP_module_make_device
	OpNumPyDType   Op = C.GD_OP_module_numpy_dtype

	OpTensorCopy         Op = C.GD_OP_tensor_copy
	OpTensorContiguous   Op = C.GD_OP_tensor_contiguous
	OpTensorIsContiguous Op = C.GD_OP_tensor_is_contiguous
	OpTensorAsType       Op = C.GD_OP_tensor_astype
	OpTensorReshape      Op = C.GD_OP_tensor_reshape
	OpTensorPermute      Op = C.GD_OP_tensor_permute
	OpTensorItem         Op = C.GD_OP_tensor_item
	OpTensorToList       Op = C.GD_OP_tensor_tolist
	OpTensorArray        Op = C.GD_OP_tensor_array
	OpTensorArrow        Op = C.GD_OP_tensor_arrow
	OpDTypeNumPy         Op = C.GD_OP_dtype_numpy
	OpTensorTo           Op = C.GD_OP_tensor_to
	OpTensorDLPack       Op = C.GD_OP_tensor_dlpack
	OpTensorRepr         Op = C.GD_OP_tensor_repr
	OpTensorSubscript    Op = C.GD_OP_tensor_subscript
	OpTensorIter         Op = C.GD_OP_tensor_iter
	OpTensorTranspose    Op = C.GD_OP_tensor_transpose
	OpTensorReduceEx     Op = C.GD_OP_tensor_reduce_ex
	OpTensorInterface    Op = C.GD_OP_tensor_array_interface

	OpDTypeNew      Op = C.GD_OP_dtype_new
	OpDTypeCompare  Op = C.GD_OP_dtype_compare
	OpDTypeReduce   Op = C.GD_OP_dtype_reduce
	OpDeviceNew     Op = C.GD_OP_device_new
	OpDeviceCompare Op = C.GD_OP_device_compare
	OpDeviceReduce  Op = C.GD_OP_device_reduce

	OpFunctionArgument   Op = C.GD_OP_function_argument
	OpFunctionLike       Op = C.GD_OP_function_like
	OpFunctionOut        Op = C.GD_OP_function_out
	OpFunctionConvert    Op = C.GD_OP_function_convert
	OpFunctionFill       Op = C.GD_OP_function_fill
	OpFunctionAllocate   Op = C.GD_OP_function_allocate
	OpFunctionLearnTorch Op = C.GD_OP_function_learn_torch
)

// Handler performs an operation. The result is a new reference; with an error, it is the zero Object.
type Handler func(*Call) (Object, error)

var handlers [C.GD_OP_COUNT]Handler

// Handle registers the function for an operation and returns the previous one. Call it from an init function.
func Handle(op Op, h Handler) (before Handler) { before, handlers[op] = handlers[op], h; return before }

// godlpackEnter is the Go side of the entry gd_enter: it calls the operation's Handler.
//
// GIL: held.
// Owns: the arguments are borrowed; the result is new, nil with a Python exception pending.
// Threads: any with the GIL.
//
//export godlpackEnter
func godlpackEnter(op C.int, self *C.PyObject, args **C.PyObject, nargs C.Py_ssize_t, kwnames *C.PyObject) (result *C.PyObject) {
	defer func() {
		if p := recover(); p != nil {
			raise(panicError(p))
			result = nil
		}
	}()
	defer leaveStarved(takeStarved())
	debug.SetPanicOnFault(true)
	handler := handlers[op]
	if handler == nil {
		raise(dlpack.Errorf(dlpack.KindRuntime, "godlpack: operation %d has no function", int(op)))
		return nil
	}
	gcstress.Crossing()
	o, err := handler(newCall(self, args, int(nargs), kwnames))
	if err == nil && !o.Exists() { // one of Python's constructors failed
		err = ErrRaised
	}
	if o, err = unlessStarved(o, err); err != nil {
		raise(err)
		return nil
	}
	return o.p
}

// unlessStarved returns the result of an operation, or MemoryError if memory ran out in it.
func unlessStarved(o Object, err error) (Object, error) {
	if !takeStarved() {
		return o, err
	}
	o.Release()
	C.PyErr_NoMemory()
	return Object{}, ErrRaised
}

// panicError turns the value of a panic into an error with the Go stack.
func panicError(p any) error {
	return dlpack.Errorf(dlpack.KindRuntime, "godlpack: Go panicked: %v\n\n%s", p, debug.Stack())
}

// godlpackGetBuffer implements Tensor's buffer protocol: it fills view, or raises BufferError.
//
// GIL: held.
// Owns: on success view owns a reference to self; on failure (-1) nothing passes.
// Threads: any with the GIL.
//
//export godlpackGetBuffer
func godlpackGetBuffer(self *C.PyObject, view *C.Py_buffer, flags C.int) (rc C.int) {
	defer func() {
		if p := recover(); p != nil {
			raise(panicError(p))
			rc = -1
		}
	}()
	defer leaveStarved(takeStarved())
	debug.SetPanicOnFault(true)
	view.obj = nil
	if err := fillBuffer(Tensor{(*C.gd_tensor)(unsafe.Pointer(self))}, view, flags); err != nil {
		raise(err)
		return -1
	}
	return 0
}

// Call is one call from Python: self and the arguments, all borrowed.
type Call struct {
	Self     Object
	args     []Object
	keywords []Keyword
}

func newCall(self *C.PyObject, args **C.PyObject, nargs int, kwnames *C.PyObject) *Call {
	call := &Call{Self: Object{self}}
	if args == nil {
		return call
	}
	names := 0
	if kwnames != nil {
		names = int(C.PyTuple_Size(kwnames))
	}
	all := unsafe.Slice((*Object)(unsafe.Pointer(args)), nargs+names)
	call.args = all[:nargs:nargs]
	for i, value := range all[nargs:] {
		name := Object{C.PyTuple_GetItem(kwnames, C.Py_ssize_t(i))}
		call.keywords = append(call.keywords, Keyword{name.StrValue(), value})
	}
	return call
}

// Unpack returns the call that a constructor received as a tuple and a dict.
//
// Owns: all is borrowed from c.
func (c *Call) Unpack() *Call {
	call := &Call{Self: c.Self}
	tuple := c.args[0].p
	for i := C.Py_ssize_t(0); i < C.PyTuple_Size(tuple); i++ {
		call.args = append(call.args, Object{C.PyTuple_GetItem(tuple, i)})
	}
	if len(c.args) == 2 {
		var at C.Py_ssize_t
		var key, value *C.PyObject
		for C.PyDict_Next(c.args[1].p, &at, &key, &value) != 0 {
			call.keywords = append(call.keywords, Keyword{Object{key}.StrValue(), Object{value}})
		}
	}
	return call
}

// Arg returns positional argument i of an operation that Python itself calls with the right number of arguments.
func (c *Call) Arg(i int) Object { return c.args[i] }

// Args returns all positional arguments.
func (c *Call) Args() []Object { return c.args }

// KeywordsOnly returns the call without its positional arguments.
func (c *Call) KeywordsOnly() *Call { return &Call{Self: c.Self, keywords: c.keywords} }
