/* A host in plain C: it opens a library and calls every function of the sample, in all the ways that a host may. It prints
   what does not hold, and exits with the number of such things.

       cc -std=c11 -pthread -I.. host.c -ldl -o host && ./host sample.so */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "godlpack.h"

static const GDLibrary *library;
static int failures;

#define CHECK(condition, ...) \
  do { \
    if (!(condition)) { \
      failures++; \
      printf("host.c:%d: %s: ", __LINE__, #condition); \
      printf(" " __VA_ARGS__); \
      printf("\n"); \
    } \
  } while (0)

/* ---- what the library is given ---- */

enum { MOST = 8 };

/* A call: its context first, so that the host's functions find the rest. */
typedef struct {
  GDContext context;
  TVMValue args[MOST], result;
  int codes[MOST], result_code, n;
  uint64_t flags[MOST];
  char kind[32], message[4096];
  size_t message_size;
  int fails, polls, stop_at, invoked;
  DLDevice asked;  /* for its stream */
  TVMValue answer; /* of callbacks */
  int answer_code;
} call;

static long live; /* tensors of our allocator */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void count(long change) {
  pthread_mutex_lock(&mutex);
  live += change;
  pthread_mutex_unlock(&mutex);
}

static void give_back(DLManagedTensorVersioned *m) {
  count(-1);
  free(m->manager_ctx);
  free(m);
}

static int allocate(GDContext *c, DLTensor *prototype, DLManagedTensorVersioned **out) {
  int64_t n = 1;
  for (int i = 0; i < prototype->ndim; i++) n *= prototype->shape[i];
  size_t size = (size_t)n * ((prototype->dtype.bits * prototype->dtype.lanes + 7) / 8);
  size_t axes = 16 * (size_t)prototype->ndim;
  if (size > (size_t)1 << 40) {
    if (c->fail) c->fail(c, "MemoryError", "the host is full", strlen("the host is full"));
    return -1;
  }
  DLManagedTensorVersioned *m = calloc(1, sizeof *m + axes);
  int64_t *shape = (int64_t *)(m + 1), *strides = shape + prototype->ndim, step = 1;
  m->version = (DLPackVersion){1, 3};
  m->manager_ctx = malloc(size + 64);
  m->deleter = give_back;
  m->dl_tensor = *prototype;
  m->dl_tensor.data = size ? (void *)(((uintptr_t)m->manager_ctx + 63) & ~(uintptr_t)63) : NULL;
  for (int i = prototype->ndim - 1; i >= 0; i--) {
    shape[i] = prototype->shape[i];
    strides[i] = step;
    step *= shape[i];
  }
  m->dl_tensor.shape = shape;
  m->dl_tensor.strides = strides;
  count(1);
  *out = m;
  return 0;
}

static int poll(GDContext *c) {
  call *k = (call *)c;
  return ++k->polls >= k->stop_at && k->stop_at;
}

/* Device 3 has no stream, others have stream 1, which is no address. */
static int current_stream(GDContext *c, DLDevice device, void **out) {
  ((call *)c)->asked = device;
  *out = (void *)1;
  return device.device_id == 3 ? -7 : 0;
}

static void fail(GDContext *c, const char *kind, const char *message, size_t size) {
  call *k = (call *)c;
  k->fails++;
  snprintf(k->kind, sizeof k->kind, "%s", kind);
  k->message_size = size < sizeof k->message - 1 ? size : sizeof k->message - 1;
  memcpy(k->message, message, k->message_size);
  k->message[k->message_size] = 0;
}

/* Memory for small outputs, for one call at a time. */
static _Alignas(64) char scratch[1024];

static int in_scratch(const void *p) { return (uintptr_t)p - (uintptr_t)scratch < sizeof scratch; }

static void drop(TVMValue value, int code) {
  if (code == GD_LIST || code == GD_TUPLE) {
    GDList *list = value.v_handle;
    for (int64_t i = 0; i < list->n; i++) drop(list->values[i], list->codes[i]);
  }
  if (code == GD_LIST || code == GD_TUPLE || code == GD_TEXT || code == GD_BYTES) free(value.v_handle);
  if (code == GD_MANAGED) {
    DLManagedTensorVersioned *m = value.v_handle;
    CHECK((m->deleter == NULL) == in_scratch(m));
    if (m->deleter) m->deleter(m);
  }
}

/* Takes what it is given, and answers what the test wants. */
static int invoke(GDContext *c, void *callable, TVMValue *args, int *codes, int n, TVMValue *ret, int *ret_code) {
  call *k = (call *)c;
  k->invoked++;
  CHECK(callable == &live && n == 4);
  CHECK(codes[0] == GD_ARGUMENT && args[0].v_int64 == 1);
  CHECK(codes[1] == GD_INT && args[1].v_int64 == 3);
  CHECK(codes[2] == GD_MANAGED && codes[3] == GD_TEXT);
  for (int i = 0; i < n; i++) drop(args[i], codes[i]);
  *ret = k->answer;
  *ret_code = k->answer_code;
  return k->answer_code == GD_DEFAULT ? -1 : 0; /* raises */
}

static int find(const char *name) {
  for (int64_t i = 0; i < library->count; i++)
    if (!strcmp(library->functions[i].name, name)) return (int)i;
  CHECK(0, "no function %s", name);
  exit(1);
}

static void begin(call *k, const char *name) {
  memset(k, 0, sizeof *k);
  k->context = (GDContext){.size = sizeof k->context,
                           .function = find(name),
                           .flags = k->flags,
                           .allocate = allocate,
                           .poll = poll,
                           .invoke = invoke,
                           .fail = fail,
                           .current_stream = current_stream};
}

static void put(call *k, TVMValue value, int code) {
  k->args[k->n] = value;
  k->codes[k->n++] = code;
}

static void put_int(call *k, int64_t v) { put(k, (TVMValue){.v_int64 = v}, GD_INT); }
static void put_float(call *k, double v) { put(k, (TVMValue){.v_float64 = v}, GD_FLOAT); }
static void put_str(call *k, const char *v) { put(k, (TVMValue){.v_str = v}, GD_STR); }
static void put_handle(call *k, void *v, int code) { put(k, (TVMValue){.v_handle = v}, code); }

static int go(call *k) {
  k->result.v_int64 = -1;
  k->result_code = 99;
  int rc = library->call(k->args, k->codes, k->n, &k->result, &k->result_code, k);
  CHECK(rc == 0 || (rc == -1 && k->result_code == GD_NULL), "rc %d, code %d", rc, k->result_code);
  CHECK(rc == -1 || !k->fails, "%s: %s", k->kind, k->message);
  return rc;
}

/* A call that must succeed. */
static void run(call *k) {
  if (go(k)) {
    CHECK(0, "%s: %s", k->kind, k->message);
    exit(1); /* there is no result to look at */
  }
}

/* A call that must fail, with that kind and a message that begins like this. */
static void refuse(call *k, const char *kind, const char *message) {
  int rc = go(k);
  CHECK(rc == -1 && k->fails == 1 && !strcmp(k->kind, kind) && !strncmp(k->message, message, strlen(message)),
        "rc %d, %d failures, %s: %s", rc, k->fails, k->kind, k->message);
}

static DLTensor vector(float *data, int64_t *n) {
  return (DLTensor){.data = data, .device = {1, 0}, .ndim = 1, .dtype = {2, 32, 1}, .shape = n};
}

/* The element of a result, which is a tensor on cpu. */
static float at(TVMValue value, int64_t i) {
  DLManagedTensorVersioned *m = value.v_handle;
  return ((float *)((char *)m->dl_tensor.data + m->dl_tensor.byte_offset))[i];
}

static int64_t extent(TVMValue value) { return ((DLManagedTensorVersioned *)value.v_handle)->dl_tensor.shape[0]; }

static int is_text(TVMValue value, int code, const char *want, size_t size) {
  TVMByteArray *text = value.v_handle;
  return (code == GD_TEXT || code == GD_PART) && text->size == size &&
         !memcmp(text->data, want, size + 1); /* with its NUL */
}

static void done(call *k) {
  drop(k->result, k->result_code);
  CHECK(live == 0, "%ld tensors left", live);
}

/* ---- the tests ---- */

static float data[] = {1, 2, 3}, other[] = {10, 20, 30};
static int64_t three = 3;
static call k;

static void test_table(void) {
  CHECK(library->version == GODLPACK_LIBRARY_VERSION && library->size == sizeof *library);
  CHECK(!strcmp(library->name, "godlpack"), "%s", library->name);
  for (int64_t i = 0; i < library->count; i++)
    CHECK(library->functions[i].declaration[0] == '{' &&
          strstr(library->functions[i].declaration, library->functions[i].name));
}

static void test_tensors(void) {
  DLTensor x = vector(data, &three), y = vector(other, &three);
  begin(&k, "nop");
  for (int i = 0; i < 3; i++) {
    put_handle(&k, &x, GD_TENSOR);
    k.flags[i] = GD_CHECKED;
  }
  run(&k);
  CHECK(k.result_code == GD_NULL);
  done(&k);

  begin(&k, "saxpy");
  put_float(&k, 2);
  put_handle(&k, &x, GD_TENSOR);
  put_handle(&k, &y, GD_TENSOR);
  run(&k);
  CHECK(other[0] == 12 && other[1] == 24 && other[2] == 36);
  done(&k);

  k.flags[2] = 1; /* read-only */
  refuse(&k, "BufferError",
         "saxpy(): argument 'y': want float32[n] on cpu, writable, got float32[3] on cpu, read-only");

  begin(&k, "echo");
  put_handle(&k, &x, GD_TENSOR);
  run(&k);
  CHECK(k.result_code == GD_ARGUMENT && k.result.v_int64 == 0);
  done(&k);

  begin(&k, "total");
  put_handle(&k, &x, GD_TENSOR);
  run(&k);
  CHECK(k.result_code == GD_FLOAT && k.result.v_float64 == 6);

  int64_t ints[] = {7, 8};
  int64_t two = 2;
  DLTensor converted = {.data = ints, .device = {1, 0}, .ndim = 1, .dtype = {0, 64, 1}, .shape = &two};
  k.args[0].v_handle = &converted;
  run(&k);
  CHECK(k.result.v_float64 == 15);

  begin(&k, "where");
  DLTensor elsewhere = x;
  elsewhere.device = (DLDevice){2, 1};
  put_handle(&k, &elsewhere, GD_TENSOR);
  run(&k);
  GDList *tuple = k.result.v_handle;
  CHECK(k.result_code == GD_TUPLE && tuple->n == 2 && tuple->codes[0] == GD_DTYPE && tuple->codes[1] == GD_DEVICE);
  CHECK(tuple->values[0].v_type.bits == 32 && tuple->values[1].v_device.device_type == 2 &&
        tuple->values[1].v_device.device_id == 1);
  done(&k);
}

/* With the host's allocator, and without one. */
static void test_outputs(void) {
  DLTensor x = vector(data, &three);
  for (int without = 0; without < 2; without++) {
    begin(&k, "softmax");
    put_handle(&k, &x, GD_TENSOR);
    if (without) k.context.allocate = NULL;
    run(&k);
    CHECK(k.result_code == GD_MANAGED && live == !without);
    CHECK(fabsf(at(k.result, 0) + at(k.result, 1) + at(k.result, 2) - 1) < 1e-6f);
    CHECK(fabsf(at(k.result, 2) - 0.66524f) < 1e-4f, "%f", at(k.result, 2));
    DLTensor *t = &((DLManagedTensorVersioned *)k.result.v_handle)->dl_tensor;
    CHECK(t->ndim == 1 && t->shape[0] == 3 && t->strides[0] == 1 && t->device.device_type == 1 &&
          (uintptr_t)t->data % 64 == 0);
    done(&k);

    begin(&k, "tail");
    put_handle(&k, &x, GD_TENSOR);
    if (without) k.context.allocate = NULL;
    run(&k);
    CHECK(k.result_code == GD_MANAGED && extent(k.result) == 2 && at(k.result, 1) == 3);
    done(&k);

    begin(&k, "split");
    put_handle(&k, &x, GD_TENSOR);
    if (without) k.context.allocate = NULL;
    run(&k);
    GDList *tuple = k.result.v_handle;
    CHECK(k.result_code == GD_TUPLE && tuple->n == 2 && extent(tuple->values[0]) == 2 && at(tuple->values[0], 1) == 3);
    CHECK(extent(tuple->values[1]) == 1 && at(tuple->values[1], 0) == 2);
    done(&k);

    begin(&k, "zeros");
    put_int(&k, 0);
    if (without) k.context.allocate = NULL;
    run(&k);
    CHECK(k.result_code == GD_MANAGED && extent(k.result) == 0);
    done(&k);

    begin(&k, "too_large");
    if (without) {
      k.context.allocate = NULL;
      refuse(&k, "MemoryError", "want 4611686018427387904 bytes, got none");
    } else {
      refuse(&k, "MemoryError", "the host is full");
    }
    done(&k);
  }
  begin(&k, "zeros");
  put_int(&k, 2);
  put(&k, (TVMValue){.v_device = {2, 0}}, GD_DEVICE);
  k.context.allocate = NULL;
  refuse(&k, "BufferError", "want memory on cuda:0, but this caller allocates on cpu only");
  done(&k);
}

/* With memory for small outputs, in which something is left from another call. */
static void test_scratch(void) {
  DLTensor x = vector(data, &three);
  for (int old = 0; old < 2; old++) {
    begin(&k, "doubled");
    TVMValue values[] = {{.v_handle = &x}, {.v_handle = &x}};
    int32_t codes[] = {GD_TENSOR, GD_TENSOR};
    GDList list = {2, values, codes, NULL};
    put_handle(&k, &list, GD_LIST);
    memset(scratch, 0xaa, sizeof scratch);
    k.context.scratch = scratch;
    k.context.scratch_size = sizeof scratch;
    if (old) /* a host that knows of none */
      k.context.size = offsetof(GDContext, scratch);
    run(&k);
    GDList *doubled = k.result.v_handle;
    CHECK(k.result_code == GD_LIST && doubled->n == 2 && live == 2 * old);
    for (int i = 0; i < 2; i++) {
      DLManagedTensorVersioned *m = doubled->values[i].v_handle;
      CHECK(in_scratch(m) == !old && in_scratch(m->dl_tensor.data) == !old && in_scratch(m->dl_tensor.shape) == !old);
      CHECK(m->version.major == 1 && m->flags == 0 && m->dl_tensor.ndim == 1 && m->dl_tensor.strides[0] == 1);
      CHECK(extent(doubled->values[i]) == 3 && at(doubled->values[i], 2) == 6);
    }
    done(&k);
  }
  begin(&k, "zeros");
  put_int(&k, sizeof scratch);
  k.context.scratch = scratch;
  k.context.scratch_size = sizeof scratch;
  run(&k);
  CHECK(live == 1 && !in_scratch(k.result.v_handle));
  done(&k);
}

static void test_lists(void) {
  DLTensor x = vector(data, &three), y = vector(other, &three);
  TVMValue values[] = {{.v_handle = &x}, {.v_handle = &y}};
  int32_t codes[] = {GD_TENSOR, GD_TENSOR};
  GDList list = {2, values, codes, NULL};
  begin(&k, "totals");
  put_handle(&k, &list, GD_LIST);
  run(&k);
  GDList *totals = k.result.v_handle;
  CHECK(k.result_code == GD_LIST && totals->n == 2 && totals->values[0].v_float64 == 6);
  done(&k);

  begin(&k, "doubled");
  put_handle(&k, &list, GD_TUPLE);
  run(&k);
  GDList *doubled = k.result.v_handle;
  CHECK(k.result_code == GD_LIST && doubled->codes[1] == GD_MANAGED && live == 2 && at(doubled->values[0], 2) == 6);
  done(&k);

  list.n = 0;
  run(&k);
  CHECK(k.result_code == GD_LIST && ((GDList *)k.result.v_handle)->n == 0);
  done(&k);
}

static void test_values(void) {
  TVMByteArray nul = {"a\0b", 3};
  TVMValue values[] = {{.v_str = "x"}, {.v_handle = &nul}};
  int32_t codes[] = {GD_STR, GD_TEXT};
  GDList words = {2, values, codes, NULL};
  begin(&k, "join");
  put_handle(&k, &words, GD_LIST);
  run(&k); /* the default is left out */
  CHECK(is_text(k.result, k.result_code, "x-a\0b", 5));
  done(&k);
  put(&k, (TVMValue){0}, GD_DEFAULT);
  run(&k);
  CHECK(is_text(k.result, k.result_code, "x-a\0b", 5));
  done(&k);
  k.n = 1;
  put_str(&k, "");
  run(&k);
  CHECK(is_text(k.result, k.result_code, "xa\0b", 4));
  done(&k);

  begin(&k, "words");
  put_str(&k, " one  two ");
  run(&k);
  GDList *list = k.result.v_handle;
  CHECK(k.result_code == GD_LIST && list->n == 2 && is_text(list->values[1], list->codes[1], "two", 3));
  done(&k);

  begin(&k, "reversed");
  put_handle(&k, &nul, GD_BYTES);
  run(&k);
  TVMByteArray *bytes = k.result.v_handle;
  CHECK(k.result_code == GD_BYTES && bytes->size == 3 && !memcmp(bytes->data, "b\0a", 3));
  done(&k);

  begin(&k, "divmod");
  put_int(&k, 47);
  run(&k);
  list = k.result.v_handle;
  CHECK(k.result_code == GD_TUPLE && list->values[0].v_int64 == 4 && list->values[1].v_int64 == 7);
  done(&k);
  put_int(&k, 0);
  refuse(&k, "ValueError", "want a divisor, got 0");

  begin(&k, "inverted");
  put_int(&k, 1);
  run(&k);
  CHECK(k.result_code == GD_INT && k.result.v_int64 == 254);
  k.args[0].v_int64 = 256;
  refuse(&k, "ValueError", "inverted(): argument 'x': want uint8, got 256");

  begin(&k, "every");
  TVMValue truths[] = {{.v_int64 = 1}, {.v_int64 = 0}};
  int32_t truth_codes[] = {GD_BOOL, GD_BOOL};
  GDList all = {2, truths, truth_codes, NULL};
  put_handle(&k, &all, GD_LIST);
  run(&k);
  CHECK(k.result_code == GD_BOOL && k.result.v_int64 == 0);

  begin(&k, "given");
  run(&k);
  CHECK(k.result_code == GD_BOOL && !k.result.v_int64);
  put(&k, (TVMValue){0}, GD_NULL);
  run(&k);
  CHECK(!k.result.v_int64);

  begin(&k, "bits");
  put_str(&k, "float6_e2m3fn");
  run(&k);
  CHECK(k.result_code == GD_INT && k.result.v_int64 == 6);
  k.args[0].v_str = "handle";
  run(&k);
  CHECK(k.result_code == GD_NULL);
}

static void test_callbacks(void) {
  DLTensor x = vector(data, &three);
  TVMByteArray text = {"yes", 3};
  struct {
    TVMValue value;
    int code;
    const char *kind;
    double number;
  } rows[] = {
      {{.v_int64 = 5}, GD_INT, "int", 5},
      {{.v_float64 = 0.5}, GD_FLOAT, "float", 0.5},
      {{0}, GD_NULL, "none", 0},
      {{.v_handle = &text}, GD_TEXT, "str yes", 3},
      {{.v_handle = &x}, GD_TENSOR, "tensor", 6},
      {{.v_int64 = 1}, GD_ARGUMENT, "tensor", 6},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    begin(&k, "apply");
    put_handle(&k, &live, GD_CALLABLE);
    put_handle(&k, &x, GD_TENSOR);
    k.answer = rows[i].value;
    k.answer_code = rows[i].code;
    run(&k);
    GDList *tuple = k.result.v_handle;
    CHECK(k.result_code == GD_TUPLE && is_text(tuple->values[0], tuple->codes[0], rows[i].kind, strlen(rows[i].kind)));
    CHECK(tuple->values[1].v_float64 == rows[i].number);
    done(&k);
  }
  k.answer_code = GD_DEFAULT; /* it raises: the host knows why, and is not told */
  CHECK(go(&k) == -1 && k.fails == 0 && k.invoked == 2);
  done(&k);
  k.context.invoke = NULL;
  refuse(&k, "RuntimeError", "the caller does not support callbacks");
  done(&k);
  begin(&k, "apply");
  put(&k, (TVMValue){0}, GD_NULL);
  put_handle(&k, &x, GD_TENSOR);
  refuse(&k, "TypeError", "apply(): argument 'f': want callable, got None");
}

static void test_streams(void) {
  begin(&k, "stream");
  put(&k, (TVMValue){.v_device = {2, 1}}, GD_DEVICE);
  run(&k);
  CHECK(k.result_code == GD_INT && k.result.v_int64 == 1 && k.asked.device_type == 2 && k.asked.device_id == 1);
  put(&k, (TVMValue){.v_int64 = 1}, GD_BOOL);
  refuse(&k, "RuntimeError", "the caller's stream was requested from a goroutine other than that of the call");
  k.n = 1;
  k.args[0].v_device.device_id = 3; /* the host knows why, and is not told */
  k.fails = 0;
  CHECK(go(&k) == -1 && k.fails == 0);
  k.context.current_stream = NULL;
  run(&k);
  CHECK(k.result.v_int64 == 0);
  k.context.current_stream = current_stream; /* which a host of version 1 without it does not have there */
  k.context.size = offsetof(GDContext, current_stream);
  run(&k);
  CHECK(k.result.v_int64 == 0);
  k.context.size--;
  CHECK(library->call(k.args, k.codes, k.n, &k.result, &k.result_code, &k) == -1 && k.fails == 0);
}

static void test_errors(void) {
  const char *kinds[] = {"BufferError", "TypeError", "ValueError", "RuntimeError", "MemoryError", "IndexError"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    begin(&k, "raise_error");
    put_str(&k, kinds[i]);
    refuse(&k, kinds[i], "raised, \xc3\xa9 and ");
    CHECK(k.message_size == strlen("raised, \xc3\xa9 and ") + strlen("x in it"), "%zu", k.message_size);
    done(&k);
  }
  begin(&k, "raise_error");
  put_str(&k, "Oops");
  refuse(&k, "RuntimeError", "no such kind");
  begin(&k, "divmod");
  refuse(&k, "TypeError", "divmod() missing argument 'a'");
  for (int i = 0; i < 3; i++) put_int(&k, 1);
  k.fails = 0;
  refuse(&k, "TypeError", "divmod() takes 2 arguments, got 3");
  begin(&k, "nop");
  k.context.function = INT32_MIN;
  refuse(&k, "RuntimeError", "the library has ");
  k.fails = 0;
  k.context.function = (int32_t)library->count;
  refuse(&k, "RuntimeError", "the library has ");

  begin(&k, "divmod"); /* a host that does not want to know why */
  k.context = (GDContext){.size = sizeof k.context, .function = k.context.function};
  CHECK(go(&k) == -1);
  k.context.size = 8;
  CHECK(library->call(k.args, k.codes, k.n, &k.result, &k.result_code, &k) == -1);
  CHECK(library->call(k.args, k.codes, k.n, &k.result, &k.result_code, NULL) == -1);
  k.context.size = sizeof k.context;
  CHECK(library->call(NULL, NULL, 1, &k.result, &k.result_code, &k) == -1);
  CHECK(library->call(NULL, NULL, -1, &k.result, &k.result_code, &k) == -1);
}

/* The functions that take log records are not in the table. The sample logs nothing. */
static void test_logs(void) {
  begin(&k, "nop");
  k.context.function = -2;
  put_int(&k, 0);
  put_int(&k, 10);
  run(&k);
  CHECK(k.result_code == GD_TEXT && ((TVMByteArray *)k.result.v_handle)->size == 0 && k.context.logged == 0);
  done(&k);
  begin(&k, "nop");
  k.context.function = -1;
  refuse(&k, "TypeError", "start_logs() missing argument 'level'");
}

static void test_panics(void) {
  struct {
    const char *name, *message, *in_stack;
  } rows[] = {
      {"panics", "panics(): Go panicked: on purpose\n\ngoroutine ", "trouble.go"},
      {"panics_elsewhere", "panics_elsewhere(): Go panicked: on purpose, elsewhere\n\ngoroutine ", "trouble.go"},
      {"nil_pointer", "nil_pointer(): Go panicked: runtime error: invalid memory address or nil pointer dereference",
       "trouble.go"},
      {"wild_pointer", "wild_pointer(): Go panicked: runtime error: invalid memory address or nil pointer dereference",
       "trouble.go"},
  };
  for (int again = 0; again < 3; again++)
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      begin(&k, rows[i].name);
      refuse(&k, "RuntimeError", rows[i].message);
      CHECK(strstr(k.message, rows[i].in_stack), "%s", k.message);
      done(&k);
    }
}

static void test_stop(void) {
  for (int parallel = 0; parallel < 2; parallel++) {
    begin(&k, "slow");
    put(&k, (TVMValue){.v_int64 = parallel}, GD_BOOL);
    k.stop_at = 3;
    CHECK(go(&k) == -1 && k.fails == 0 && k.polls == 3, "%d polls", k.polls);
    done(&k);
  }
}

/* Many threads at a time, each with calls of its own. */
static void *thread(void *unused) {
  (void)unused;
  float x[] = {1, 2, 3}, y[] = {0, 0, 0};
  int64_t n = 3;
  DLTensor tx = vector(x, &n), ty = vector(y, &n);
  call mine;
  for (int i = 0; i < 200; i++) {
    begin(&mine, "saxpy");
    put_float(&mine, 1);
    put_handle(&mine, &tx, GD_TENSOR);
    put_handle(&mine, &ty, GD_TENSOR);
    run(&mine);
    begin(&mine, "softmax");
    put_handle(&mine, &tx, GD_TENSOR);
    run(&mine);
    drop(mine.result, mine.result_code);
    begin(&mine, "panics");
    refuse(&mine, "RuntimeError", "panics()");
  }
  CHECK(y[2] == 600, "%f", y[2]);
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK(live == 0, "%ld tensors left", live);
}

/* Objects that the library has not given. */
static void test_objects(void) {
  const int64_t numbers[] = {0, 5000, UINT32_MAX, (1LL << 32) + 7};
  for (int i = 0; i < 4; i++) library->drop(numbers[i], 1);
}

int main(int argc, char **argv) {
  setbuf(stdout, NULL);
  void *so = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!so) {
    printf("%s\n", argc >= 2 ? dlerror() : "want an argument: a library");
    return 1;
  }
  const GDLibrary *(*open)(void) = (const GDLibrary *(*)(void))dlsym(so, "godlpack_library");
  library = open();
  CHECK(library && library == open());
  if (argc > 2) { /* lose a tensor: whoever watches shall find out */
    begin(&k, "zeros");
    put_int(&k, 1);
    run(&k);
    memset(&k, 0, sizeof k);
    return 0;
  }
  test_table();
  test_tensors();
  test_outputs();
  test_scratch();
  test_lists();
  test_values();
  test_callbacks();
  test_streams();
  test_errors();
  test_logs();
  test_panics();
  test_stop();
  test_threads();
  test_objects();
  return failures > 255 ? 255 : failures;
}
