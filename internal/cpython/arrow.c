/* Arrow's C data interface, for producers. Foreign code releases the records, on any thread. */
#include <stdlib.h>

#include "arrow.h"
#include "core.h"

/* Consumers move the records before they release them: nothing here depends on the records' address. */
static void schema_release(struct ArrowSchema *s) { s->release = NULL; }

static void array_release(struct ArrowArray *a) {
  gd_storage_release(a->private_data);
  free(a->buffers);
  a->release = NULL;
}

static void schema_destroy(PyObject *capsule) {
  struct ArrowSchema *s = PyCapsule_GetPointer(capsule, "arrow_schema");
  if (s->release != NULL) s->release(s);
  free(s);
}

static void array_destroy(PyObject *capsule) {
  struct ArrowArray *a = PyCapsule_GetPointer(capsule, "arrow_array");
  if (a->release != NULL) a->release(a); /* no consumer has moved it out */
  free(a);
}

/* gd_arrow_schema makes the capsule "arrow_schema" of a dtype's format, a static string.
   C because: (b).
   Owns: the result is the caller's; on failure NULL with an exception set. */
PyObject *gd_arrow_schema(const char *format) {
  struct ArrowSchema *s = malloc(sizeof *s);
  if (s == NULL) return PyErr_NoMemory();
  *s = (struct ArrowSchema){.format = format, .name = "", .release = schema_release};
  PyObject *capsule = PyCapsule_New(s, "arrow_schema", schema_destroy);
  if (capsule == NULL) free(s);
  return capsule;
}

/* gd_arrow_array makes the capsule "arrow_array" over the memory of x, which is compact and of one dimension, without nulls.
   C because: (b).
   Owns: the result is the caller's, and keeps x's memory alive; on failure NULL with an exception set.
   Threads: any with the GIL; the record may be released on any, once. */
PyObject *gd_arrow_array(gd_tensor *x) {
  if (!gd_tensor_share(x)) return NULL;
  struct ArrowArray *a = malloc(sizeof *a);
  const void **buffers = malloc(2 * sizeof *buffers);
  PyObject *capsule = a == NULL || buffers == NULL ? PyErr_NoMemory() : PyCapsule_New(a, "arrow_array", array_destroy);
  if (capsule == NULL) return free(a), free(buffers), NULL;
  buffers[0] = NULL; /* the validity bitmap: no nulls */
  buffers[1] = (char *)x->t.data + x->t.byte_offset;
  *a = (struct ArrowArray){.length = x->t.shape[0],
                           .n_buffers = 2,
                           .buffers = buffers,
                           .release = array_release,
                           .private_data = gd_storage_retain(x->storage)};
  return capsule;
}
