/* The part of CPython's stable ABI (3.11) that godlpack uses, declared here so that a build needs no Python headers.
   tests/test_abi.py compiles this file after each installed Python's own Python.h (then only the prototypes below are used, and
   must agree), and compares sizes, offsets and constants. */
#ifndef GODLPACK_PYABI_H
#define GODLPACK_PYABI_H

#include <stddef.h>
#include <stdint.h>

#ifndef Py_PYTHON_H /* types and constants: Python.h has its own */

typedef ptrdiff_t Py_ssize_t;
typedef Py_ssize_t Py_hash_t;
typedef struct _object PyObject;
typedef struct _typeobject PyTypeObject;
typedef struct _ts PyThreadState;
typedef struct _is PyInterpreterState;
struct _object {
  Py_ssize_t ob_refcnt;
  PyTypeObject *ob_type;
};
#define PyObject_HEAD PyObject ob_base;

typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef PyObject *(*vectorcallfunc)(PyObject *, PyObject *const *, size_t, PyObject *);
typedef PyObject *(*getter)(PyObject *, void *);
typedef int (*setter)(PyObject *, PyObject *, void *);
typedef int (*visitproc)(PyObject *, void *);
typedef int (*traverseproc)(PyObject *, visitproc, void *);
typedef int (*inquiry)(PyObject *);
typedef void (*freefunc)(void *);
typedef PyObject *(*allocfunc)(PyTypeObject *, Py_ssize_t);
typedef PyObject *(*descrgetfunc)(PyObject *, PyObject *, PyObject *);
typedef void (*PyCapsule_Destructor)(PyObject *);
typedef enum { PyGILState_LOCKED, PyGILState_UNLOCKED } PyGILState_STATE;

typedef struct {
  const char *ml_name;
  PyCFunction ml_meth;
  int ml_flags;
  const char *ml_doc;
} PyMethodDef;
typedef struct {
  const char *name;
  getter get;
  setter set;
  const char *doc;
  void *closure;
} PyGetSetDef;
typedef struct {
  const char *name;
  int type;
  Py_ssize_t offset;
  int flags;
  const char *doc;
} PyMemberDef;
typedef struct {
  int slot;
  void *pfunc;
} PyType_Slot;
typedef struct {
  const char *name;
  int basicsize;
  int itemsize;
  unsigned int flags;
  PyType_Slot *slots;
} PyType_Spec;
typedef struct {
  int slot;
  void *value;
} PyModuleDef_Slot;
typedef struct {
  PyObject ob_base;
  PyObject *(*m_init)(void);
  Py_ssize_t m_index;
  PyObject *m_copy;
} PyModuleDef_Base;
typedef struct PyModuleDef {
  PyModuleDef_Base m_base;
  const char *m_name, *m_doc;
  Py_ssize_t m_size;
  PyMethodDef *m_methods;
  PyModuleDef_Slot *m_slots;
  traverseproc m_traverse;
  inquiry m_clear;
  freefunc m_free;
} PyModuleDef;
typedef struct {
  void *buf;
  PyObject *obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char *format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void *internal;
} Py_buffer;

enum { METH_VARARGS = 1, METH_FASTCALL = 0x80, METH_KEYWORDS = 2, METH_NOARGS = 4, METH_O = 8, METH_STATIC = 0x20 };
enum { Py_mod_exec = 2 };
enum {
  Py_bf_getbuffer = 1,
  Py_bf_releasebuffer = 2,
  Py_mp_length = 4,
  Py_mp_subscript = 5,
  Py_tp_alloc = 47,
  Py_tp_call = 50,
  Py_tp_dealloc = 52,
  Py_tp_descr_get = 54,
  Py_tp_descr_set = 55,
  Py_tp_getattro = 58,
  Py_tp_doc = 56,
  Py_tp_hash = 59,
  Py_tp_iter = 62,
  Py_tp_methods = 64,
  Py_tp_new = 65,
  Py_tp_repr = 66,
  Py_tp_richcompare = 67,
  Py_tp_str = 70,
  Py_tp_members = 72,
  Py_tp_getset = 73,
  Py_tp_free = 74
};
enum {
  PyBUF_WRITABLE = 1,
  PyBUF_FORMAT = 4,
  PyBUF_ND = 8,
  PyBUF_STRIDES = 0x18,
  PyBUF_C_CONTIGUOUS = 0x38,
  PyBUF_F_CONTIGUOUS = 0x58,
  PyBUF_ANY_CONTIGUOUS = 0x98
};
enum { Py_LT, Py_LE, Py_EQ, Py_NE, Py_GT, Py_GE };
#define Py_TPFLAGS_BASETYPE (1UL << 10)
#define Py_TPFLAGS_DISALLOW_INSTANTIATION (1UL << 7)
#define Py_TPFLAGS_IMMUTABLETYPE (1UL << 8)
#define Py_TPFLAGS_DEFAULT 0UL
#define Py_TPFLAGS_LONG_SUBCLASS (1UL << 24)
#define Py_TPFLAGS_LIST_SUBCLASS (1UL << 25)
#define Py_TPFLAGS_TUPLE_SUBCLASS (1UL << 26)
#define Py_TPFLAGS_BYTES_SUBCLASS (1UL << 27)
#define Py_TPFLAGS_UNICODE_SUBCLASS (1UL << 28)
#define Py_TPFLAGS_TYPE_SUBCLASS (1UL << 31)
#define PyModuleDef_HEAD_INIT {{1, NULL}, NULL, 0, NULL}

#define PyAPI_DATA(T) extern T
PyAPI_DATA(const unsigned long) Py_Version;
PyAPI_DATA(PyObject) _Py_NoneStruct;
PyAPI_DATA(PyObject) _Py_NotImplementedStruct;
PyAPI_DATA(PyObject) _Py_EllipsisObject;
typedef struct _longobject PyLongObject_opaque;
PyAPI_DATA(PyLongObject_opaque) _Py_FalseStruct;
PyAPI_DATA(PyLongObject_opaque) _Py_TrueStruct;
PyAPI_DATA(PyObject *) PyExc_AttributeError;
PyAPI_DATA(PyObject *) PyExc_BufferError;
PyAPI_DATA(PyObject *) PyExc_Exception;
PyAPI_DATA(PyObject *) PyExc_ImportError;
PyAPI_DATA(PyObject *) PyExc_IndexError;
PyAPI_DATA(PyObject *) PyExc_MemoryError;
PyAPI_DATA(PyObject *) PyExc_OSError;
PyAPI_DATA(PyObject *) PyExc_KeyboardInterrupt;
PyAPI_DATA(PyObject *) PyExc_OverflowError;
PyAPI_DATA(PyObject *) PyExc_RuntimeError;
PyAPI_DATA(PyObject *) PyExc_RuntimeWarning;
PyAPI_DATA(PyObject *) PyExc_TypeError;
PyAPI_DATA(PyObject *) PyExc_ValueError;
PyAPI_DATA(PyObject *) PyExc_Warning;
#define Py_None (&_Py_NoneStruct)
#define Py_NotImplemented (&_Py_NotImplementedStruct)
#define Py_Ellipsis (&_Py_EllipsisObject)
#define Py_False ((PyObject *)&_Py_FalseStruct)
#define Py_True ((PyObject *)&_Py_TrueStruct)
#define Py_TYPE(o) (((PyObject *)(o))->ob_type)

#else
#undef Py_IncRef /* Python 3.13 wraps some of these names in macros */
#undef Py_DecRef
#endif

/* member types and flags of PyMemberDef: named T_* in structmember.h before 3.12, Py_T_* since */
enum { GD_T_INT = 1, GD_T_UBYTE = 9, GD_T_USHORT = 10, GD_T_OBJECT_EX = 16, GD_T_PYSSIZET = 19, GD_READONLY = 1 };
enum { GD_MOD_MULTIPLE_INTERPRETERS = 3 }; /* Py_mod_multiple_interpreters, known since 3.12 */

/* vectorcall is in the stable ABI since 3.12; 3.11 has it under the same numbers */
#define GD_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#define GD_TPFLAGS_METHOD_DESCRIPTOR (1UL << 17)
#define GD_VECTORCALL_ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))
PyObject *PyVectorcall_Call(PyObject *, PyObject *, PyObject *);

void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *); /* ignores NULL */
int Py_IsInitialized(void);
PyObject *PyObject_Init(PyObject *, PyTypeObject *);
void *PyObject_Malloc(size_t);
void PyObject_Free(void *);
void PyObject_ClearWeakRefs(PyObject *);
PyObject *PyObject_GetAttr(PyObject *, PyObject *);
PyObject *PyObject_GenericGetAttr(PyObject *, PyObject *);
PyObject *PyObject_GetAttrString(PyObject *, const char *);
int PyObject_SetAttrString(PyObject *, const char *, PyObject *);
PyObject *PyObject_Call(PyObject *, PyObject *, PyObject *);
PyObject *PyObject_CallMethodObjArgs(PyObject *, PyObject *, ...);
PyObject *PyObject_CallFunction(PyObject *, const char *, ...);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyObject_CallMethod(PyObject *, const char *, const char *, ...);
PyObject *PyObject_GenericGetAttr(PyObject *, PyObject *);
PyObject *PyObject_GetIter(PyObject *);
PyObject *PySequence_Tuple(PyObject *);
PyObject *PyObject_GetItem(PyObject *, PyObject *);
Py_hash_t PyObject_Hash(PyObject *);
int PyObject_IsTrue(PyObject *);
int PyObject_IsInstance(PyObject *, PyObject *);
PyObject *PyObject_Repr(PyObject *);
PyObject *PyObject_Str(PyObject *);
PyObject *PyObject_RichCompare(PyObject *, PyObject *, int);
int PyObject_RichCompareBool(PyObject *, PyObject *, int);
int PyObject_CheckBuffer(PyObject *);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
int PyCallable_Check(PyObject *);
int PyIndex_Check(PyObject *);
PyObject *PyNumber_Index(PyObject *);
int PyType_IsSubtype(PyTypeObject *, PyTypeObject *);
unsigned long PyType_GetFlags(PyTypeObject *);
void *PyType_GetSlot(PyTypeObject *, int);
PyObject *PyType_FromModuleAndSpec(PyObject *, PyType_Spec *, PyObject *);
PyObject *PyModuleDef_Init(PyModuleDef *);
int PyModule_AddObjectRef(PyObject *, const char *, PyObject *);
int PyModule_AddStringConstant(PyObject *, const char *, const char *);
PyObject *PyImport_Import(PyObject *);
PyObject *PyImport_ImportModule(const char *);
PyObject *PyImport_GetModuleDict(void);
PyInterpreterState *PyInterpreterState_Get(void);
int64_t PyInterpreterState_GetID(PyInterpreterState *);
PyThreadState *PyThreadState_Get(void);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);
PyObject *PyEval_GetBuiltins(void);
int PyArg_ParseTuple(PyObject *, const char *, ...);
PyObject *Py_BuildValue(const char *, ...);
int PyOS_snprintf(char *, size_t, const char *, ...);
PyGILState_STATE PyGILState_Ensure(void);
void PyGILState_Release(PyGILState_STATE);
PyObject *PyErr_Occurred(void);
int PyErr_ExceptionMatches(PyObject *);
void PyErr_Clear(void);
void PyErr_Fetch(PyObject **, PyObject **, PyObject **);
void PyErr_Restore(PyObject *, PyObject *, PyObject *);
void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **);
void PyErr_SetString(PyObject *, const char *);
void PyErr_SetObject(PyObject *, PyObject *);
PyObject *PyErr_SetFromErrnoWithFilename(PyObject *, const char *);
int PyErr_CheckSignals(void);
unsigned long PyThread_get_thread_ident(void);
PyObject *PyErr_Format(PyObject *, const char *, ...);
int PyErr_WarnFormat(PyObject *, Py_ssize_t, const char *, ...);
PyObject *PyErr_NoMemory(void);
void PyErr_WriteUnraisable(PyObject *);
void PyException_SetContext(PyObject *, PyObject *);
PyObject *PyCapsule_New(void *, const char *, PyCapsule_Destructor);
void *PyCapsule_GetPointer(PyObject *, const char *);
const char *PyCapsule_GetName(PyObject *);
int PyCapsule_IsValid(PyObject *, const char *);
int PyCapsule_SetName(PyObject *, const char *);
PyObject *PyLong_FromLong(long);
PyObject *PyLong_FromLongLong(long long);
PyObject *PyLong_FromUnsignedLongLong(unsigned long long);
PyObject *PyLong_FromVoidPtr(void *);
PyObject *PyLong_FromString(const char *, char **, int);
long long PyLong_AsLongLong(PyObject *);
long long PyLong_AsLongLongAndOverflow(PyObject *, int *);
unsigned long long PyLong_AsUnsignedLongLong(PyObject *);
double PyLong_AsDouble(PyObject *);
void *PyLong_AsVoidPtr(PyObject *);
PyObject *PyBool_FromLong(long);
PyObject *PyFloat_FromDouble(double);
double PyFloat_AsDouble(PyObject *);
PyObject *PyComplex_FromDoubles(double, double);
double PyComplex_RealAsDouble(PyObject *);
double PyComplex_ImagAsDouble(PyObject *);
PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t);
int PyBytes_AsStringAndSize(PyObject *, char **, Py_ssize_t *);
PyObject *PyUnicode_FromFormat(const char *, ...);
PyObject *PyUnicode_FromStringAndSize(const char *, Py_ssize_t);
PyObject *PyUnicode_DecodeUTF8(const char *, Py_ssize_t, const char *);
PyObject *PyUnicode_AsEncodedString(PyObject *, const char *, const char *);
int PyUnicode_Compare(PyObject *, PyObject *);
int PyUnicode_CompareWithASCIIString(PyObject *, const char *);
PyObject *PyUnicode_InternFromString(const char *);
void PyUnicode_InternInPlace(PyObject **);
const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
PyObject *PyTuple_New(Py_ssize_t);
Py_ssize_t PyTuple_Size(PyObject *);
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
PyObject *PyList_New(Py_ssize_t);
int PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
int PyList_Append(PyObject *, PyObject *);
PyObject *PyList_AsTuple(PyObject *);
Py_ssize_t PySequence_Size(PyObject *);
PyObject *PySequence_GetItem(PyObject *, Py_ssize_t);
int PySequence_Check(PyObject *);
PyObject *PyDict_New(void);
PyObject *PyDict_GetItemWithError(PyObject *, PyObject *);
PyObject *PyDict_GetItemString(PyObject *, const char *);
int PyDict_SetItem(PyObject *, PyObject *, PyObject *);
int PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **);
int PySlice_Unpack(PyObject *, Py_ssize_t *, Py_ssize_t *, Py_ssize_t *);
Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t *, Py_ssize_t *, Py_ssize_t);

PyAPI_DATA(PyTypeObject) PyBool_Type;
PyAPI_DATA(PyTypeObject) PyCapsule_Type;
PyAPI_DATA(PyTypeObject) PyComplex_Type;
PyAPI_DATA(PyTypeObject) PyFloat_Type;
PyAPI_DATA(PyTypeObject) PyLong_Type;
PyAPI_DATA(PyTypeObject) PySlice_Type;
PyAPI_DATA(PyTypeObject) PyTuple_Type;
PyAPI_DATA(PyTypeObject) PyUnicode_Type;

#endif
