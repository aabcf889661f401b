/* A library of functions without Go: what a host can meet, honest and odd. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packed.h"

static int fail(GDContext *c, const char *kind, const char *message) {
  c->fail(c, kind, message, strlen(message));
  return -1;
}

static int text(TVMValue *ret, int *code, int as, const char *data, size_t n) {
  TVMByteArray *b = malloc(sizeof *b + n + 1);
  memcpy(b + 1, data, n);
  *b = (TVMByteArray){(char *)(b + 1), n};
  ret->v_handle = b;
  *code = as;
  return 0;
}

static GDList *list(int64_t n) {
  GDList *l = malloc(sizeof *l + (size_t)n * 12);
  *l = (GDList){n, (TVMValue *)(l + 1), (int32_t *)((TVMValue *)(l + 1) + n), NULL};
  for (int64_t i = 0; i < n; i++) l->codes[i] = GD_NULL;
  return l;
}

/* What the function got, written down: codes, values, for tensors shape, strides, first byte and flags. */
static void tell(char **at, char *end, TVMValue v, int code, uint64_t flags);
static void tell_list(char **at, char *end, const GDList *l) {
  for (int64_t i = 0; i < l->n; i++) tell(at, end, l->values[i], l->codes[i], l->flags ? l->flags[i] : 0);
}
#define SAY(...) (*at += snprintf(*at, (size_t)(end - *at), __VA_ARGS__))
static void tell(char **at, char *end, TVMValue v, int code, uint64_t flags) {
  const TVMByteArray *b = v.v_handle;
  const DLTensor *t = v.v_handle;
  switch (code) {
    case GD_INT: SAY("int %lld;", (long long)v.v_int64); break;
    case GD_BOOL: SAY("bool %lld;", (long long)v.v_int64); break;
    case GD_FLOAT: SAY("float %.17g;", v.v_float64); break;
    case GD_NULL: SAY("null;"); break;
    case GD_TEXT:
    case GD_BYTES:
      SAY("%s %zu ", code == GD_TEXT ? "text" : "bytes", b->size);
      memcpy(*at, b->data, b->size);
      *at += b->size;
      SAY(";");
      break;
    case GD_DTYPE: SAY("dtype %d %d %d;", v.v_type.code, v.v_type.bits, v.v_type.lanes); break;
    case GD_DEVICE: SAY("device %d %d;", v.v_device.device_type, v.v_device.device_id); break;
    case GD_DEFAULT: SAY("default;"); break;
    case GD_CALLABLE: SAY("callable;"); break;
    case GD_LIST:
      SAY("[");
      tell_list(at, end, v.v_handle);
      SAY("]");
      break;
    case GD_TENSOR:
      SAY("tensor %d %d (", t->dtype.code, t->dtype.bits);
      for (int i = 0; i < t->ndim; i++) SAY("%lld:%lld,", (long long)t->shape[i], (long long)t->strides[i]);
      SAY(")%s%s", flags & 1 ? " read-only" : "", flags & GD_CHECKED ? "" : " unchecked");
      if (t->data != NULL && t->device.device_type == 1) SAY(" %d", ((unsigned char *)t->data)[t->byte_offset]);
      SAY(";");
      break;
    default: SAY("code %d;", code);
  }
}

static int told(TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code, GDContext *c) {
  static _Thread_local char buffer[1 << 20];
  char *at = buffer;
  GDList all = {n, args, codes, (uint64_t *)c->flags};
  tell_list(&at, buffer + sizeof buffer, &all);
  return text(ret, ret_code, GD_TEXT, buffer, (size_t)(at - buffer));
}

static int64_t elements(const DLTensor *t) {
  int64_t n = 1;
  for (int i = 0; i < t->ndim; i++) n *= t->shape[i];
  return n;
}

static int new_like(GDContext *c, DLTensor *x, uint8_t fill, TVMValue *ret, int *code) {
  DLTensor prototype = *x;
  DLManagedTensorVersioned *m;
  prototype.data = NULL, prototype.strides = NULL, prototype.byte_offset = 0;
  if (c->allocate(c, &prototype, &m) != 0) return -1;
  if (x->device.device_type == 1)
    memset((char *)m->dl_tensor.data + m->dl_tensor.byte_offset, fill, (size_t)elements(x) * x->dtype.bits / 8);
  ret->v_handle = m;
  *code = GD_MANAGED;
  return 0;
}

/* As new_like, in the memory that the host has for small outputs. It moves scratch, as one thread takes memory there; libraries
   in Go do not. */
static int placed(GDContext *c, DLTensor *x, uint8_t fill, TVMValue *ret, int *code) {
  size_t size = (size_t)elements(x) * x->dtype.bits / 8,
         head = (sizeof(DLManagedTensorVersioned) + 16 * (size_t)x->ndim + 63) & ~(size_t)63;
  DLManagedTensorVersioned *m = c->scratch;
  if (c->scratch == NULL) return fail(c, "ValueError", "no scratch memory");
  if (head + size > c->scratch_size || x->dtype.bits % 8 != 0) return fail(c, "ValueError", "too large");
  if ((uintptr_t)m % 64 != 0) return fail(c, "ValueError", "not aligned");
  int64_t *shape = (int64_t *)(m + 1), *strides = shape + x->ndim, step = 1;
  *m = (DLManagedTensorVersioned){
      {1, 3}, NULL, NULL, 0, {(char *)m + head, {1, 0}, x->ndim, x->dtype, shape, strides, 0}};
  for (int i = x->ndim - 1; i >= 0; i--) shape[i] = x->shape[i], strides[i] = step, step *= shape[i];
  memset((char *)m + head, fill, size);
  c->scratch = (char *)m + ((head + size + 63) & ~(size_t)63);
  c->scratch_size -= (size_t)((char *)c->scratch - (char *)m);
  return ret->v_handle = m, *code = GD_MANAGED, 0;
}

static void delete_nothing(DLManagedTensorVersioned *m) { (void)m; }

/* What a broken library might return. */
static int odd(int64_t which, TVMValue *ret, int *code) {
  static int64_t shape[] = {2}, stride[] = {1};
  static float data[] = {1, 2};
  static DLManagedTensorVersioned strange = {
      {9, 0}, NULL, delete_nothing, 0, {data, {1, 0}, 1, {2, 32, 1}, shape, stride, 0}};
  static DLManagedTensorVersioned wild = {
      {1, 3}, NULL, delete_nothing, 0, {(void *)8, {1, 0}, 1, {2, 32, 1}, shape, stride, 0}};
  static DLManagedTensorVersioned readonly = {
      {1, 3}, NULL, delete_nothing, 1, {data, {1, 0}, 1, {2, 32, 1}, shape, stride, 0}};
  GDList *l;
  ret->v_handle = NULL;
  switch (which) {
    case 0: *code = 99; return 0;
    case 1: *code = GD_MANAGED; return 0;
    case 2: *code = GD_TEXT; return 0;
    case 3: *code = GD_BYTES; return 0;
    case 4: *code = GD_LIST; return 0;
    case 5: *code = GD_ARGUMENT, ret->v_int64 = 77; return 0;
    case 6: *code = GD_ARGUMENT, ret->v_int64 = -1; return 0;
    case 7: *code = GD_TENSOR; return 0;
    case 8: *code = GD_STR; return 0; /* only an argument may be one */
    case 9: *code = GD_MANAGED, ret->v_handle = &strange; return 0;
    case 10: *code = GD_MANAGED, ret->v_handle = &wild; return 0;
    case 11: *code = GD_MANAGED, ret->v_handle = &readonly; return 0;
    case 12: return text(ret, code, GD_TEXT, "\xff\xfe", 2);
    case 13:
      l = list(3), l->codes[1] = 99, ret->v_handle = l, *code = GD_LIST;
      return text(&l->values[0], &l->codes[0], GD_TEXT, "kept", 4);
    case 14: l = list(0), l->n = -5, ret->v_handle = l, *code = GD_TUPLE; return 0;
    case 16: *code = GD_DEFAULT; return 0;
    case 17: *code = GD_CALLABLE; return 0;
    case 19:
    case 20: /* without values, without codes */
      l = list(1), ret->v_handle = l, *code = GD_LIST;
      return which == 19 ? (l->values = NULL) : (void *)(l->codes = NULL), 0;
    case 21: *code = GD_UINT, ret->v_int64 = -1; return 0;
    case 23: return ret->v_handle = list(0), *code = GD_LIST, 0;
    case 24: *code = GD_OBJECT, ret->v_int64 = -1; return 0;
    case 25: *code = GD_OBJECT, ret->v_int64 = 1LL << 32; return 0;
    case 26: *code = GD_OBJECT, ret->v_int64 = 0; return 0;
    case 22: l = list(1), ret->v_handle = l, l->values[0].v_handle = list(1), l->codes[0] = *code = GD_LIST; return 0;
    default: return -1;
  }
}

/* One value of each kind. */
static int values(TVMValue *ret, int *code) {
  GDList *l = list(9), *inner = list(1);
  TVMValue *v = l->values;
  int32_t *k = l->codes;
  v[0].v_int64 = -5, k[0] = GD_INT;
  v[1].v_float64 = 0.25, k[1] = GD_FLOAT;
  v[2].v_int64 = 1, k[2] = GD_BOOL;
  text(&v[4], &k[4], GD_TEXT, "a\0\xc3\xa9", 4);
  text(&v[5], &k[5], GD_BYTES, "\0\xff", 2);
  v[6].v_type = (DLDataType){4, 16, 1}, k[6] = GD_DTYPE;
  v[7].v_device = (DLDevice){1, 0}, k[7] = GD_DEVICE;
  inner->codes[0] = GD_INT, inner->values[0].v_int64 = 3;
  v[8].v_handle = inner, k[8] = GD_LIST;
  ret->v_handle = l;
  *code = GD_TUPLE;
  return 0;
}

enum {
  NOP0,
  NOP3,
  TELL,
  TELL9,
  ECHO,
  EMPTY_LIKE,
  TWO,
  ODD,
  FAIL,
  SILENT,
  VALUES,
  WAIT,
  INVOKE,
  WRITE,
  HELD,
  SCRATCH,
  BOTH,
  LISTED,
  STREAM,
  STREAM_OF,
  PLACED,
  PLACED_TWICE,
  LEND,
  INSIST,
  ELSEWHERE,
  SURPLUS,
  MUTE,
  MANY,
  POLL,
  SPIN,
  DOZE
};

__attribute__((unused)) static const GDFunction functions[] = {
#define P(name) "{\"name\":\"" name "\",\"kind\":\"tensor\"}"
#define D(name, params, results) \
  {name, "{\"name\":\"" name "\",\"doc\":\"Does " name ".\",\"params\":[" params "],\"results\":[" results "]}"}
#define T "{\"kind\":\"tensor\"}"
    D("nop0", "", ""),
    D("nop3", P("a") "," P("b") "," P("c"), ""),
    D("tell",
      P("x") ",{\"name\":\"y\",\"kind\":\"int\",\"default\":\"1\"},{\"name\":\"z\",\"kind\":\"int\",\"default\":\"-0.5\"}",
      ""),
    D("tell9", P("a") "," P("b") "," P("c") "," P("d") "," P("e") "," P("f") "," P("g") "," P("h") "," P("i"), ""),
    D("echo", P("x"), T),
    D("empty_like", P("x"), T),
    D("two", P("x"), T "," T),
    D("odd", "{\"name\":\"which\",\"kind\":\"int\"}", T),
    D("fail", "{\"name\":\"kind\",\"kind\":\"str\"},{\"name\":\"message\",\"kind\":\"str\"}", ""),
    D("silent", "", ""),
    D("values", "", ""),
    D("wait", "{\"name\":\"rounds\",\"kind\":\"int\"}", ""),
    D("invoke", "{\"name\":\"f\",\"kind\":\"callable\"}," P("x"), T),
    D("write", "{\"name\":\"x\",\"kind\":\"tensor\",\"mutable\":true}", ""),
    {"held", "{\"name\":\"held\",\"params\":[" P("a") "," P("b") "," P("c") "],\"results\":[],\"hold_gil\":true}"},
    D("scratch", P("x"), T),
    D("both", P("x"), "{\"kind\":\"int\"}," T),
    D("listed", P("x"), "{\"kind\":\"list\",\"elem\":" T "}"),
    D("stream", P("x") "," P("y"), ""),
    D("stream_of", "{\"name\":\"device\",\"kind\":\"device\"}", T),
    D("placed", P("x"), T),
    D("placed_twice", P("x"), T ",{\"kind\":\"int\"}," T "," T),
    D("lend", "{\"name\":\"f\",\"kind\":\"callable\"}," P("x"), T),
    D("insist", "{\"name\":\"f\",\"kind\":\"callable\"}," P("x"), ""),
    D("elsewhere", P("x") ",{\"name\":\"device\",\"kind\":\"device\"}", T),
    D("surplus", P("x"), T),
    D("mute", "{\"name\":\"kind\",\"kind\":\"str\"}", ""),
#define P8(n) P(n "0") "," P(n "1") "," P(n "2") "," P(n "3") "," P(n "4") "," P(n "5") "," P(n "6") "," P(n "7")
    D("many", P8("a") "," P8("b") "," P8("c") "," P8("d") "," P8("e") "," P8("f") "," P8("g") "," P8("h") "," P("last"),
      ""),
    D("poll", P("x"), ""),
    D("spin", P("x"), T),
    D("doze", P("x"), ""),
};

/* The slot of an exchange table that knows no stream. */
extern void PyErr_SetString(void *class, const char *message);
extern void *PyExc_TypeError;
__attribute__((visibility("default"))) int no_stream(int32_t type, int32_t id, void **out) {
  (void)type, (void)id, (void)out;
  return PyErr_SetString(PyExc_TypeError, "no stream"), -1;
}

__attribute__((unused)) static int call(TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code,
                                        void *resource_handle) {
  GDContext *c = resource_handle;
  const TVMByteArray *kind, *message;
  TVMValue scratch;
  DLDevice device;
  GDList *l;
  int scratch_code, rc;
  *ret_code = GD_NULL;
  switch (c->function) {
    case TELL:
    case TELL9:
    case WRITE:
    case MANY: return told(args, codes, n, ret, ret_code, c);
    case STREAM:
    case STREAM_OF: /* on the device of the last tensor */
      device = codes[n - 1] == GD_TENSOR ? ((DLTensor *)args[n - 1].v_handle)->device : args[n - 1].v_device;
      return *ret_code = GD_INT, ret->v_int64 = 0,
             c->current_stream(c, device, &ret->v_handle) ? (*ret_code = GD_NULL, -1) : 0;
    case ECHO: ret->v_int64 = 0, *ret_code = GD_ARGUMENT; return 0;
    case EMPTY_LIKE:
      return codes[0] == GD_TENSOR ? new_like(c, args[0].v_handle, 0, ret, ret_code)
                                   : fail(c, "TypeError", "want a tensor");
    case SCRATCH: /* memory that it needs for itself comes first */
      if (new_like(c, args[0].v_handle, 9, &scratch, &scratch_code) != 0) return -1;
      rc = new_like(c, args[0].v_handle, 1, ret, ret_code);
      ((DLManagedTensorVersioned *)scratch.v_handle)->deleter(scratch.v_handle);
      return rc;
    case TWO:
    case BOTH:
    case LISTED:
    case SURPLUS:
      *ret_code = c->function == LISTED ? GD_LIST : GD_TUPLE, ret->v_handle = l = list(2);
      if (c->function == BOTH) l->codes[0] = GD_INT, l->values[0].v_int64 = 7;
      else if (new_like(c, args[0].v_handle, 1, &l->values[0], &l->codes[0]) != 0)
        return free(l), *ret_code = GD_NULL, -1;
      rc = new_like(c, args[0].v_handle, 2, &l->values[1], &l->codes[1]);
      if (rc == 0) return 0;
      if (l->codes[0] == GD_MANAGED)
        ((DLManagedTensorVersioned *)l->values[0].v_handle)->deleter(l->values[0].v_handle);
      return free(l), *ret_code = GD_NULL, rc;
    case PLACED: return placed(c, args[0].v_handle, 5, ret, ret_code);
    case PLACED_TWICE: /* two outputs, the second one twice */
      l = list(4), l->codes[1] = GD_INT, l->values[1].v_int64 = (int64_t)c->scratch_size;
      if (placed(c, args[0].v_handle, 1, &l->values[0], &l->codes[0]) != 0 ||
          placed(c, args[0].v_handle, 2, &l->values[2], &l->codes[2]) != 0)
        return free(l), -1;
      return l->values[3] = l->values[2], l->codes[3] = l->codes[2], ret->v_handle = l, *ret_code = GD_TUPLE, 0;
    case LEND: /* one output to a callable, and then another one as the result */
      if (placed(c, args[1].v_handle, 3, &scratch, &scratch_code) != 0) return -1;
      if (c->invoke(c, args[0].v_handle, &scratch, &scratch_code, 1, ret, ret_code) != 0)
        return *ret_code = GD_NULL, -1;
      return placed(c, args[1].v_handle, 4, ret, ret_code);
    case ODD: return odd(args[0].v_int64, ret, ret_code);
    case FAIL:
      kind = args[0].v_handle, message = args[1].v_handle;
      c->fail(c, kind->data, message->data, message->size);
      return -1;
    case SILENT: return -1;
    case VALUES: return values(ret, ret_code);
    case WAIT:
      for (int64_t i = 0; i < args[0].v_int64; i++) {
        if (c->poll(c) != 0) return fail(c, "RuntimeError", "stopped");
        usleep(1000);
      }
      return 0;
    case INVOKE:
      args[1].v_int64 = 1;
      if (c->invoke(c, args[0].v_handle, &args[1], (int[]){GD_ARGUMENT}, 1, ret, ret_code) != 0)
        return *ret_code = GD_NULL, -1;
      if (*ret_code != GD_INT && *ret_code != GD_FLOAT) *ret_code = GD_NULL; /* borrowed, so it cannot be returned */
      return 0;
    case INSIST: /* ignores the callable's exception */
      for (int i = 0; i < 2; i++)
        args[1].v_int64 = 1, c->invoke(c, args[0].v_handle, &args[1], (int[]){GD_ARGUMENT}, 1, &scratch, &scratch_code);
      return 0;
    case ELSEWHERE: /* an output, but on another device */
      ((DLTensor *)args[0].v_handle)->device = args[1].v_device;
      rc = new_like(c, args[0].v_handle, 0, ret, ret_code);
      ((DLTensor *)args[0].v_handle)->device = (DLDevice){1, 0};
      return rc;
    case POLL: return c->poll(c), c->poll(c), 0; /* ignores the status */
    case SPIN:
    case DOZE: /* never stop: DOZE mostly in system calls */
      for (volatile int64_t i = 0;; i++)
        if (c->function == DOZE && i % 1000000 == 0) usleep(3000);
    case MUTE: /* fails without a message */
      kind = args[0].v_handle;
      return c->fail(c, kind->size > 0 ? kind->data : NULL, NULL, 5), -1;
    default: return 0;
  }
}

static const GDLibrary library = {
#ifdef WRONG_VERSION
    2,
#else
    GODLPACK_LIBRARY_VERSION,
#endif
#if defined OLD_TABLE
    offsetof(GDLibrary, threads),
#elif defined SHORT_TABLE
    8,
#else
    sizeof library,
#endif
    "functions",
#if defined WRONG_COUNT
    -1,
#elif defined EMPTY
    0,
#else
    sizeof functions / sizeof *functions,
#endif
#if defined WRONG_TABLE || defined EMPTY
    NULL,
#elif defined NAMELESS
    (GDFunction[sizeof functions / sizeof *functions]){{0}},
#elif defined UNDECLARED
    (GDFunction[sizeof functions / sizeof *functions]){{"nop0", NULL}},
#else
    functions,
#endif
#ifdef NO_CALL
    NULL,
#else
    call,
#endif
#ifdef OLD_TABLE
    .threads = (int (*)(int))1, /* past the table's size */
#endif
};

__attribute__((visibility("default"))) const GDLibrary *godlpack_library(void) {
#ifdef NO_TABLE
  return NULL;
#else
  return &library;
#endif
}
