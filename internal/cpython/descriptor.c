/* The Python types DType and Device: immutable values with a name, in C as tensors are. */
#include "core.h"
#include "docstrings.h"

GD_KEPT PyTypeObject *gd_dtype_type, *gd_device_type;

/* gd_descriptor_new makes a DType or a Device.
   C because: (a).
   Owns: the result is the caller's, NULL with MemoryError set on failure; name and kind (which may be NULL)
     stay the caller's. */
PyObject *gd_descriptor_new(PyTypeObject *type, uint64_t key, PyObject *name, PyObject *kind, int itemsize) {
  gd_descriptor *l = PyObject_Malloc(sizeof *l);
  if (l == NULL) return PyErr_NoMemory();
  PyObject_Init((PyObject *)l, type);
  l->value.key = key;
  l->itemsize = itemsize;
  Py_IncRef(l->name = name);
  if ((l->kind = kind) != NULL) Py_IncRef(kind);
  return (PyObject *)l;
}

static void descriptor_dealloc(PyObject *self) {
  gd_descriptor *l = (gd_descriptor *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_DecRef(l->name);
  Py_DecRef(l->kind);
  PyObject_Free(self);
  Py_DecRef((PyObject *)type);
}

static Py_hash_t descriptor_hash(PyObject *self) { return PyObject_Hash(((gd_descriptor *)self)->name); }

static PyObject *descriptor_str(PyObject *self) {
  Py_IncRef(((gd_descriptor *)self)->name);
  return ((gd_descriptor *)self)->name;
}

static PyObject *descriptor_repr(PyObject *self) {
  return PyUnicode_FromFormat("%s(%R)", Py_TYPE(self) == gd_dtype_type ? "DType" : "Device",
                              ((gd_descriptor *)self)->name);
}

static PyObject *descriptor_compare(PyObject *self, PyObject *other, int how) {
  if (how != Py_EQ && how != Py_NE) {
    Py_IncRef(Py_NotImplemented);
    return Py_NotImplemented;
  }
  if (Py_TYPE(self) == Py_TYPE(other))
    return PyBool_FromLong((((gd_descriptor *)self)->value.key == ((gd_descriptor *)other)->value.key) ==
                           (how == Py_EQ));
  int op = Py_TYPE(self) == gd_dtype_type ? GD_OP_dtype_compare : GD_OP_device_compare;
  PyObject *equal = gd_enter(op, self, &other, 1, NULL);
  if (how == Py_EQ || equal == NULL || equal == Py_NotImplemented) return equal;
  PyObject *unequal = PyBool_FromLong(equal == Py_False);
  Py_DecRef(equal);
  return unequal;
}

static PyObject *descriptor_make(int op, PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *both[2] = {args, kwargs};
  return gd_enter(op, (PyObject *)type, both, kwargs == NULL ? 1 : 2, NULL);
}
static PyObject *dtype_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  return descriptor_make(GD_OP_dtype_new, type, args, kw);
}
static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *kw) {
  return descriptor_make(GD_OP_device_new, type, args, kw);
}

#define FIELD(name, kind, field, doc) {name, kind, offsetof(gd_descriptor, field), GD_READONLY, doc}
static PyMemberDef dtype_members[] = {
    FIELD("name", GD_T_OBJECT_EX, name, doc_dtype_name),
    FIELD("code", GD_T_UBYTE, value.dtype.code, doc_dtype_code),
    FIELD("bits", GD_T_UBYTE, value.dtype.bits, doc_dtype_bits),
    FIELD("lanes", GD_T_USHORT, value.dtype.lanes, doc_dtype_lanes),
    FIELD("itemsize", GD_T_INT, itemsize, doc_dtype_itemsize),
    {0},
};
static PyObject *dtype_numpy(PyObject *self, void *ignored) {
  return (void)ignored, gd_enter(GD_OP_dtype_numpy, self, NULL, 0, NULL);
}
static PyGetSetDef dtype_getset[] = {
    {"__numpy_dtype__", dtype_numpy, NULL, doc_dtype_numpy_dtype, NULL},
    {0},
};
static PyMemberDef device_members[] = {
    FIELD("type", GD_T_OBJECT_EX, kind, doc_device_type),
    FIELD("id", GD_T_INT, value.device.device_id, doc_device_id),
    {0},
};

static PyGetSetDef device_getset[] = {{0}};

GD_DTYPE_METHODS(GD_TRAMPOLINE)
GD_DEVICE_METHODS(GD_TRAMPOLINE)

static PyMethodDef dtype_methods[] = {GD_DTYPE_METHODS(GD_METHOD){0}};
static PyMethodDef device_methods[] = {GD_DEVICE_METHODS(GD_METHOD){0}};

#define DESCRIPTOR_SLOTS(doc, members, methods, getset, new) \
  (PyType_Slot[]) { \
    {Py_tp_doc, (void *)doc}, {Py_tp_new, new}, {Py_tp_dealloc, descriptor_dealloc}, {Py_tp_members, members}, \
        {Py_tp_methods, methods}, {Py_tp_getset, getset}, {Py_tp_repr, descriptor_repr}, {Py_tp_str, descriptor_str}, \
        {Py_tp_hash, descriptor_hash}, {Py_tp_richcompare, descriptor_compare}, {0}, \
  }
#define DESCRIPTOR_FLAGS Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE
static PyType_Spec dtype_spec = {"godlpack.DType", sizeof(gd_descriptor), 0, DESCRIPTOR_FLAGS,
                                 DESCRIPTOR_SLOTS(doc_dtype, dtype_members, dtype_methods, dtype_getset, dtype_new)};
static PyType_Spec device_spec = {
    "godlpack.Device", sizeof(gd_descriptor), 0, DESCRIPTOR_FLAGS,
    DESCRIPTOR_SLOTS(doc_device, device_members, device_methods, device_getset, device_new)};

/* gd_descriptor_cached looks an object up by its key; Go makes it the first time. Dtypes and devices are read often and are
   few. */
PyObject *gd_descriptor_cached(gd_descriptor_cache cache, uint64_t key, int op) {
  gd_descriptor_slot *slot = &cache[(key * 0x9E3779B97F4A7C15u) >> 58];
  if (slot->descriptor == NULL || slot->key != key) {
    PyObject *number = PyLong_FromUnsignedLongLong(key);
    PyObject *descriptor = number == NULL ? NULL : gd_enter(op, NULL, &number, 1, NULL);
    Py_DecRef(number);
    if (descriptor == NULL) return NULL;
    Py_DecRef(slot->descriptor);
    *slot = (gd_descriptor_slot){key, descriptor};
  }
  Py_IncRef(slot->descriptor);
  return slot->descriptor;
}

static GD_OWN gd_descriptor_cache own_dtypes, own_devices;
static GD_KEPT gd_descriptor_slot *dtypes = own_dtypes, *devices = own_devices;

/* gd_dtype_object returns the DType of a record's dtype. */
PyObject *gd_dtype_object(DLDataType d) {
  return gd_descriptor_cached(dtypes, gd_dtype_key(d), GD_OP_module_make_dtype);
}

/* gd_device_object returns the Device of a record's device. */
PyObject *gd_device_object(DLDevice d) {
  return gd_descriptor_cached(devices, (uint64_t)(uint32_t)d.device_id << 32 | (uint32_t)d.device_type,
                              GD_OP_module_make_device);
}

/* gd_descriptor_exec makes the types, as gd_tensor_exec does.
   C because: (a).
   Threads: the importing one. */
int gd_descriptor_exec(PyObject *module) {
  if (gd_dtype_type == NULL) gd_dtype_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &dtype_spec, NULL);
  if (gd_dtype_type == NULL || PyModule_AddObjectRef(module, "DType", (PyObject *)gd_dtype_type) != 0) return -1;
  if (gd_device_type == NULL) gd_device_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &device_spec, NULL);
  return gd_device_type == NULL ? -1 : PyModule_AddObjectRef(module, "Device", (PyObject *)gd_device_type);
}
