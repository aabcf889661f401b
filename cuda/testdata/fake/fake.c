/* A driver of CUDA without a GPU, for tests: it stands in for libcuda.so.1 (and libnvrtc.so) and is as strict as it can be.

   - Work on streams is not done when it is queued but when somebody waits for it, and then in the order that CUDA
     promises and in no other: whoever forgets to order two streams, or to wait, gets old bytes.
   - Memory on a device cannot be touched by the CPU: its addresses have no access, and the fake works on a second
     mapping of the same pages. Freed memory has no address at all.
   - Every call is logged with its device and arguments; any call can be made to fail; what is not given back is counted.
   - A forked child gets CUDA_ERROR_NOT_INITIALIZED, as it does from CUDA.

   Compiled with -DWITH_CUDA_H -I(folder of cuda.h) its functions are held against NVIDIA's own declarations. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef WITH_CUDA_H
#include <cuda.h>
#else
typedef int CUresult, CUdevice, CUdevice_attribute, CUpointer_attribute, CUjit_option, CUstreamCaptureStatus,
    CUmemorytype;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUarray_st *CUarray;
typedef unsigned long long CUdeviceptr;
typedef struct {
  size_t srcXInBytes, srcY;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_NOT_SUPPORTED = 801
};
#endif

enum { MAX_DEVICES = 8, MAX_DEPTH = 64, LOG = 1 << 20, PAGE = 4096 };

static pthread_mutex_t lock;
static pid_t owner;
static unsigned long long clock_now; /* of queued work: what is smaller was queued earlier */

static void begin(void) __attribute__((constructor));
static void begin(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &recursive);
  owner = getpid();
}

static int device_count(void) {
  const char *n = getenv("FAKE_CUDA_DEVICES");
  return n == NULL ? 2 : atoi(n);
}

/* ---- contexts: one for each device, and each thread's stack of them ---- */

struct CUctx_st { int device, refs; };
static struct CUctx_st contexts[MAX_DEVICES];
static _Thread_local CUcontext stack[MAX_DEPTH];
static _Thread_local int depth;

static CUcontext current(void) { return depth == 0 ? NULL : stack[depth - 1]; }
static int current_device(void) { return current() == NULL ? -1 : current()->device; }

/* ---- the log, and failures on demand ---- */

static char log_text[LOG];
static size_t log_end;
static struct {
  char name[64];
  int skip, result;
} failure;

static CUresult enter(const char *name, const char *format, ...) {
  char line[512];
  int n = snprintf(line, sizeof line, "%s", name);
  if (current_device() >= 0) n += snprintf(line + n, sizeof line - n, " @%d", current_device());
  if (*format) line[n++] = ' ';
  va_list args;
  va_start(args, format);
  n += vsnprintf(line + n, sizeof line - n, format, args);
  va_end(args);
  if (log_end + n + 2 < LOG) log_end += snprintf(log_text + log_end, LOG - log_end, "%s\n", line);
  if (getpid() != owner) return CUDA_ERROR_NOT_INITIALIZED;
  if (strcmp(failure.name, name) == 0 && failure.skip-- == 0) {
    failure.name[0] = 0;
    return failure.result;
  }
  return CUDA_SUCCESS;
}

#define ENTER(...) \
  pthread_mutex_lock(&lock); \
  CUresult result = enter(__VA_ARGS__)
#define LEAVE \
  pthread_mutex_unlock(&lock); \
  return result
#define REFUSE(condition, error) \
  if (result == CUDA_SUCCESS && (condition)) result = (error)
#define NEEDS_CONTEXT REFUSE(current() == NULL, CUDA_ERROR_INVALID_CONTEXT)

/* ---- memory ---- */

enum kind { ON_DEVICE, PINNED, MANAGED };
typedef struct memory {
  struct memory *next;
  enum kind kind;
  int device;
  char *start, *shadow;
  size_t size, mapped;
  bool closing;
} memory;
static memory *memories;

static memory *memory_at(uintptr_t p) {
  for (memory *m = memories; m != NULL; m = m->next)
    if (p >= (uintptr_t)m->start && p < (uintptr_t)m->start + m->size) return m;
  return NULL;
}

/* Where the bytes at an address really are; NULL if they are not all in one allocation. Addresses that nobody allocated
   are the host's own. */
static char *bytes_at(uintptr_t p, size_t n) {
  memory *m = memory_at(p);
  if (m == NULL) return (char *)p;
  return p - (uintptr_t)m->start + n <= m->size ? m->shadow + (p - (uintptr_t)m->start) : NULL;
}

static char *device_bytes(uintptr_t p, size_t n) { return memory_at(p) == NULL ? NULL : bytes_at(p, n); }

static CUresult allocate(void **out, size_t size, enum kind kind) {
  if (size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (size > (size_t)1 << 32) return CUDA_ERROR_OUT_OF_MEMORY;
  memory *m = calloc(1, sizeof *m);
  m->kind = kind, m->device = current_device(), m->size = size, m->mapped = (size + PAGE - 1) / PAGE * PAGE;
  int file = memfd_create("memory", 0);
  if (ftruncate(file, m->mapped) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  m->shadow = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  m->start = kind == ON_DEVICE ? mmap(NULL, m->mapped, PROT_NONE, MAP_SHARED, file, 0) : m->shadow;
  close(file);
  memset(m->shadow, 0xCD, m->mapped); /* undefined, and to be seen */
  m->next = memories;
  memories = m;
  *out = m->start;
  return CUDA_SUCCESS;
}

static void forget(memory *gone) {
  memory **at = &memories;
  while (*at != gone) at = &(*at)->next;
  *at = gone->next;
  if (gone->start != gone->shadow) munmap(gone->start, gone->mapped);
  munmap(gone->shadow, gone->mapped);
  free(gone);
}

/* ---- streams: queues that are worked off when somebody waits ---- */

typedef struct work work;
struct work {
  work *next;
  unsigned long long when;
  CUresult (*run)(work *);
  uintptr_t to, from, value;
  size_t count, width, to_pitch, from_pitch;
  struct CUstream_st *stream; /* to wait for, up to ... */
  unsigned long long until;
  char *staged;
  char kernel[32];
  uint64_t args[8]; /* MAX_PARAMS */
};
struct CUstream_st {
  struct CUstream_st *next;
  int id, device;
  bool blocking, legacy, capturing, closed;
  work *first;
  CUresult sticky;
};
struct CUevent_st {
  int id;
  bool timed;
  struct CUstream_st *stream;
  unsigned long long when;
};

static struct CUstream_st legacy[MAX_DEVICES], per_thread[MAX_DEVICES], *streams;
static int live_streams, live_events, live_modules, last_id = 2;

static struct CUstream_st *stream_of(CUstream handle) {
  int device = current_device() < 0 ? 0 : current_device();
  if ((uintptr_t)handle <= 1)
    return legacy[device].legacy = true, legacy[device].device = device, legacy[device].id = 1, &legacy[device];
  if ((uintptr_t)handle == 2)
    return per_thread[device].blocking = true, per_thread[device].device = device, per_thread[device].id = 2,
           &per_thread[device];
  for (struct CUstream_st *s = streams; s != NULL; s = s->next)
    if (s == handle && !s->closed) return s;
  return NULL;
}

/* Does the work of s that was queued up to a time, and first all that CUDA promises is done before: the default stream
   and the blocking ones of a device wait for each other. */
static void drain(struct CUstream_st *s, unsigned long long until) {
  while (s->first != NULL && s->first->when <= until) {
    work *w = s->first;
    if (s->legacy) {
      drain(&per_thread[s->device], w->when - 1);
      for (struct CUstream_st *other = streams; other != NULL; other = other->next)
        if (other->blocking && other->device == s->device) drain(other, w->when - 1);
    } else if (s->blocking) {
      drain(&legacy[s->device], w->when - 1);
    }
    if (w->stream != NULL) drain(w->stream, w->until);
    CUresult result = w->run == NULL ? CUDA_SUCCESS : w->run(w);
    if (result != CUDA_SUCCESS && s->sticky == CUDA_SUCCESS) s->sticky = result;
    s->first = w->next;
    free(w->staged);
    free(w);
  }
}

static CUresult finish(struct CUstream_st *s) {
  drain(s, clock_now);
  CUresult result = s->sticky;
  s->sticky = CUDA_SUCCESS;
  return result;
}

static void finish_device(int device) {
  drain(&legacy[device], clock_now);
  drain(&per_thread[device], clock_now);
  for (struct CUstream_st *s = streams; s != NULL; s = s->next)
    if (s->device == device) drain(s, clock_now);
}

static work *queue(struct CUstream_st *s, CUresult (*run)(work *)) {
  work *w = calloc(1, sizeof *w), **at = &s->first;
  while (*at != NULL) at = &(*at)->next;
  w->when = ++clock_now;
  w->run = run;
  return *at = w;
}

static CUresult run_copy(work *w) {
  char *to = bytes_at(w->to, w->count), *from = w->staged ? w->staged : bytes_at(w->from, w->count);
  if (to == NULL || from == NULL) return CUDA_ERROR_ILLEGAL_ADDRESS;
  memmove(to, from, w->count);
  return CUDA_SUCCESS;
}

static CUresult run_rows(work *w) {
  for (size_t i = 0; i < w->count; i++) {
    char *to = device_bytes(w->to + i * w->to_pitch, w->width),
         *from = device_bytes(w->from + i * w->from_pitch, w->width);
    if (to == NULL || from == NULL) return CUDA_ERROR_ILLEGAL_ADDRESS;
    memmove(to, from, w->width);
  }
  return CUDA_SUCCESS;
}

static CUresult run_fill(work *w) {
  char *to = device_bytes(w->to, w->count * w->width);
  if (to == NULL) return CUDA_ERROR_ILLEGAL_ADDRESS;
  for (size_t i = 0; i < w->count; i++) memcpy(to + i * w->width, &w->value, w->width);
  return CUDA_SUCCESS;
}

static CUresult run_free(work *w) {
  memory *m = memory_at(w->to);
  if (m == NULL) return CUDA_ERROR_ILLEGAL_ADDRESS;
  forget(m);
  return CUDA_SUCCESS;
}

/* ---- what the tests ask the fake itself ---- */

const char *fake_log(void) { return log_text; }
void fake_reset(void) { log_text[log_end = 0] = 0, live_events = 0; }
void fake_fail(const char *name, int skip, int code) {
  snprintf(failure.name, sizeof failure.name, "%s", name);
  failure.skip = skip, failure.result = code;
}
/* What was not given back; contexts are retained ones. */
const char *fake_live(void) {
  static char text[128];
  int count = 0, retained = 0;
  for (memory *m = memories; m != NULL; m = m->next) count++;
  for (int i = 0; i < MAX_DEVICES; i++) retained += contexts[i].refs;
  snprintf(text, sizeof text, "memories=%d streams=%d events=%d modules=%d contexts=%d", count, live_streams,
           live_events, live_modules, retained);
  return text;
}
/* Reads device memory as it is now, queued work not done. */
int fake_peek(void *to, unsigned long long from, size_t n) {
  char *bytes = device_bytes(from, n);
  if (bytes != NULL) memcpy(to, bytes, n);
  return bytes != NULL;
}
int fake_depth(void) { return depth; }
/* As if this process had loaded the fake itself, and not its parent. */
void begin_again(void) { owner = getpid(); }
void fake_capture(CUstream s, int on) { stream_of(s)->capturing = on; }

/* ---- the driver ---- */

CUresult cuInit(unsigned flags) {
  ENTER("cuInit", "%u", flags);
  REFUSE(device_count() == 0, CUDA_ERROR_NO_DEVICE);
  LEAVE;
}

static const struct {
  CUresult result;
  const char *name, *text;
} results[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

static const char *text_of(CUresult r, bool name) {
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    if (results[i].result == r) return name ? results[i].name : results[i].text;
  return NULL;
}
CUresult cuGetErrorName(CUresult r, const char **out) {
  return (*out = text_of(r, true)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult r, const char **out) {
  return (*out = text_of(r, false)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDriverGetVersion(int *out) {
  ENTER("cuDriverGetVersion", "");
  if (result == CUDA_SUCCESS) *out = 13020;
  LEAVE;
}
CUresult cuDeviceGetCount(int *out) {
  ENTER("cuDeviceGetCount", "");
  if (result == CUDA_SUCCESS) *out = device_count();
  LEAVE;
}
CUresult cuDeviceGet(CUdevice *out, int ordinal) {
  ENTER("cuDeviceGet", "%d", ordinal);
  REFUSE(ordinal < 0 || ordinal >= device_count(), CUDA_ERROR_INVALID_DEVICE);
  if (result == CUDA_SUCCESS) *out = ordinal;
  LEAVE;
}
CUresult cuDeviceGetName(char *out, int n, CUdevice d) {
  ENTER("cuDeviceGetName", "%d", d);
  if (result == CUDA_SUCCESS) snprintf(out, n, "Fake %d", d);
  LEAVE;
}
CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute a, CUdevice d) {
  ENTER("cuDeviceGetAttribute", "%d %d", (int)a, d);
  const char *pools = getenv("FAKE_CUDA_POOLS");
  if (result == CUDA_SUCCESS)
    *out = a == 115 ? pools == NULL || *pools == '1' : a == 75 ? 9 : a == 11 ? 1 << 20 : a == 16 ? 4 : 0;
  LEAVE;
}
CUresult cuDeviceTotalMem_v2(size_t *out, CUdevice d) {
  ENTER("cuDeviceTotalMem_v2", "%d", d);
  if (result == CUDA_SUCCESS) *out = (size_t)1 << 32;
  LEAVE;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice d) {
  ENTER("cuDevicePrimaryCtxRetain", "%d", d);
  if (result == CUDA_SUCCESS) contexts[d].device = d, contexts[d].refs++, *out = &contexts[d];
  LEAVE;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) {
  ENTER("cuDevicePrimaryCtxRelease_v2", "%d", d);
  REFUSE(contexts[d].refs == 0, CUDA_ERROR_INVALID_CONTEXT);
  if (result == CUDA_SUCCESS) contexts[d].refs--;
  LEAVE;
}
CUresult cuCtxPushCurrent_v2(CUcontext c) {
  ENTER("cuCtxPushCurrent_v2", "%d", c->device);
  REFUSE(c->refs == 0 || depth == MAX_DEPTH, CUDA_ERROR_INVALID_CONTEXT);
  if (result == CUDA_SUCCESS) stack[depth++] = c;
  LEAVE;
}
CUresult cuCtxPopCurrent_v2(CUcontext *out) {
  ENTER("cuCtxPopCurrent_v2", "");
  NEEDS_CONTEXT;
  if (result == CUDA_SUCCESS) *out = stack[--depth];
  LEAVE;
}
CUresult cuCtxSetCurrent(CUcontext c) {
  ENTER("cuCtxSetCurrent", "%d", c == NULL ? -1 : c->device);
  if (result == CUDA_SUCCESS && c == NULL) depth -= depth > 0;
  else if (result == CUDA_SUCCESS) stack[depth == 0 ? depth++ : depth - 1] = c;
  LEAVE;
}
CUresult cuCtxGetCurrent(CUcontext *out) {
  ENTER("cuCtxGetCurrent", "");
  if (result == CUDA_SUCCESS) *out = current();
  LEAVE;
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t n) {
  ENTER("cuMemAlloc_v2", "%zu", n);
  NEEDS_CONTEXT;
  if (result == CUDA_SUCCESS) result = allocate((void **)out, n, ON_DEVICE);
  LEAVE;
}
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t n, unsigned flags) {
  ENTER("cuMemAllocManaged", "%zu %u", n, flags);
  NEEDS_CONTEXT;
  if (result == CUDA_SUCCESS) result = allocate((void **)out, n, MANAGED);
  LEAVE;
}
CUresult cuMemHostAlloc(void **out, size_t n, unsigned flags) {
  ENTER("cuMemHostAlloc", "%zu %u", n, flags);
  NEEDS_CONTEXT;
  if (result == CUDA_SUCCESS) result = allocate(out, n, PINNED);
  LEAVE;
}
CUresult cuMemAllocAsync(CUdeviceptr *out, size_t n, CUstream s) {
  ENTER("cuMemAllocAsync", "%zu on %d", n, stream_of(s) ? stream_of(s)->id : -1);
  NEEDS_CONTEXT;
  REFUSE(stream_of(s) == NULL, CUDA_ERROR_INVALID_HANDLE);
  if (result == CUDA_SUCCESS) result = allocate((void **)out, n, ON_DEVICE);
  LEAVE;
}
static CUresult free_now(CUresult result, uintptr_t p, bool pinned) {
  memory *m = memory_at(p);
  REFUSE(m == NULL || (uintptr_t)m->start != p || m->closing || (m->kind == PINNED) != pinned,
         CUDA_ERROR_INVALID_VALUE);
  if (result != CUDA_SUCCESS) return result;
  finish_device(m->device);
  forget(m);
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr p) {
  ENTER("cuMemFree_v2", "");
  NEEDS_CONTEXT;
  result = free_now(result, p, false);
  LEAVE;
}
CUresult cuMemFreeHost(void *p) {
  ENTER("cuMemFreeHost", "");
  result = free_now(result, (uintptr_t)p, true);
  LEAVE;
}
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) {
  ENTER("cuMemFreeAsync", "on %d", stream_of(s) ? stream_of(s)->id : -1);
  memory *m = memory_at(p);
  REFUSE(m == NULL || m->closing || stream_of(s) == NULL, CUDA_ERROR_INVALID_VALUE);
  if (result == CUDA_SUCCESS) m->closing = true, queue(stream_of(s), run_free)->to = p;
  LEAVE;
}
CUresult cuMemGetInfo_v2(size_t *left, size_t *total) {
  ENTER("cuMemGetInfo_v2", "");
  NEEDS_CONTEXT;
  if (result == CUDA_SUCCESS) *left = (size_t)1 << 31, *total = (size_t)1 << 32;
  LEAVE;
}

/* Queues a copy. Bytes that come from pageable memory of the host are read at once. */
static CUresult copy(CUresult result, CUstream handle, uintptr_t to, uintptr_t from, size_t n, bool wait) {
  struct CUstream_st *s = stream_of(handle);
  NEEDS_CONTEXT;
  REFUSE(s == NULL, CUDA_ERROR_INVALID_HANDLE);
  REFUSE(bytes_at(to, n) == NULL || bytes_at(from, n) == NULL, CUDA_ERROR_INVALID_VALUE);
  if (result != CUDA_SUCCESS) return result;
  work *w = queue(s, run_copy);
  w->to = to, w->from = from, w->count = n;
  if (memory_at(from) == NULL) memcpy(w->staged = malloc(n), (void *)from, n);
  return wait ? finish(s) : CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n) {
  ENTER("cuMemcpyHtoD_v2", "%zu", n);
  REFUSE(memory_at(to) == NULL, CUDA_ERROR_INVALID_VALUE);
  result = copy(result, NULL, to, (uintptr_t)from, n, true);
  LEAVE;
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n) {
  ENTER("cuMemcpyDtoH_v2", "%zu", n);
  REFUSE(memory_at(from) == NULL, CUDA_ERROR_INVALID_VALUE);
  result = copy(result, NULL, (uintptr_t)to, from, n, true);
  LEAVE;
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) {
  ENTER("cuMemcpyDtoD_v2", "%zu", n);
  REFUSE(memory_at(to) == NULL || memory_at(from) == NULL, CUDA_ERROR_INVALID_VALUE);
  result = copy(result, NULL, to, from, n, false);
  LEAVE;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) {
  ENTER("cuMemcpyHtoDAsync_v2", "%zu on %d", n, stream_of(s) ? stream_of(s)->id : -1);
  REFUSE(memory_at(to) == NULL, CUDA_ERROR_INVALID_VALUE);
  result = copy(result, s, to, (uintptr_t)from, n, false);
  LEAVE;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) {
  ENTER("cuMemcpyDtoHAsync_v2", "%zu on %d", n, stream_of(s) ? stream_of(s)->id : -1);
  REFUSE(memory_at(from) == NULL, CUDA_ERROR_INVALID_VALUE);
  result = copy(result, s, (uintptr_t)to, from, n, false);
  LEAVE;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  ENTER("cuMemcpyDtoDAsync_v2", "%zu on %d", n, stream_of(s) ? stream_of(s)->id : -1);
  REFUSE(memory_at(to) == NULL || memory_at(from) == NULL, CUDA_ERROR_INVALID_VALUE);
  result = copy(result, s, to, from, n, false);
  LEAVE;
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t n, CUstream s) {
  ENTER("cuMemcpyPeerAsync", "%zu from %d to %d on %d", n, fc->device, tc->device,
        stream_of(s) ? stream_of(s)->id : -1);
  REFUSE(memory_at(to) == NULL || memory_at(to)->device != tc->device, CUDA_ERROR_INVALID_VALUE);
  REFUSE(memory_at(from) == NULL || memory_at(from)->device != fc->device, CUDA_ERROR_INVALID_VALUE);
  result = copy(result, s, to, from, n, false);
  LEAVE;
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream s) {
  ENTER("cuMemcpy2DAsync_v2", "%zux%zu on %d", c->Height, c->WidthInBytes, stream_of(s) ? stream_of(s)->id : -1);
  NEEDS_CONTEXT;
  REFUSE(
      c->srcMemoryType != 2 || c->dstMemoryType != 2 || c->srcPitch < c->WidthInBytes || c->dstPitch < c->WidthInBytes,
      CUDA_ERROR_INVALID_VALUE);
  REFUSE(c->srcPitch > 1 << 20 || c->dstPitch > 1 << 20, CUDA_ERROR_INVALID_VALUE);
  REFUSE(stream_of(s) == NULL, CUDA_ERROR_INVALID_HANDLE);
  if (result == CUDA_SUCCESS) {
    work *w = queue(stream_of(s), run_rows);
    w->to = c->dstDevice + c->dstXInBytes, w->from = c->srcDevice + c->srcXInBytes;
    w->count = c->Height, w->width = c->WidthInBytes, w->to_pitch = c->dstPitch, w->from_pitch = c->srcPitch;
  }
  LEAVE;
}
static CUresult fill(CUresult result, CUstream handle, uintptr_t to, uintptr_t value, size_t width, size_t n) {
  NEEDS_CONTEXT;
  REFUSE(stream_of(handle) == NULL, CUDA_ERROR_INVALID_HANDLE);
  REFUSE(device_bytes(to, n * width) == NULL || to % width != 0, CUDA_ERROR_INVALID_VALUE);
  if (result != CUDA_SUCCESS) return result;
  work *w = queue(stream_of(handle), run_fill);
  w->to = to, w->value = value, w->width = width, w->count = n;
  return result;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char v, size_t n, CUstream s) {
  ENTER("cuMemsetD8Async", "%zu of %d on %d", n, v, stream_of(s) ? stream_of(s)->id : -1);
  result = fill(result, s, to, v, 1, n);
  LEAVE;
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short v, size_t n, CUstream s) {
  ENTER("cuMemsetD16Async", "%zu of %d on %d", n, v, stream_of(s) ? stream_of(s)->id : -1);
  result = fill(result, s, to, v, 2, n);
  LEAVE;
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned v, size_t n, CUstream s) {
  ENTER("cuMemsetD32Async", "%zu of %u on %d", n, v, stream_of(s) ? stream_of(s)->id : -1);
  result = fill(result, s, to, v, 4, n);
  LEAVE;
}

CUresult cuStreamCreate(CUstream *out, unsigned flags) {
  ENTER("cuStreamCreate", "%u", flags);
  NEEDS_CONTEXT;
  if (result == CUDA_SUCCESS) {
    struct CUstream_st *s = calloc(1, sizeof *s);
    s->next = streams, s->id = ++last_id, s->device = current_device(), s->blocking = !(flags & 1);
    *out = streams = s;
    live_streams++;
  }
  LEAVE;
}
CUresult cuStreamDestroy_v2(CUstream handle) {
  ENTER("cuStreamDestroy_v2", "%d", stream_of(handle) ? stream_of(handle)->id : -1);
  REFUSE((uintptr_t)handle <= 2 || stream_of(handle) == NULL, CUDA_ERROR_INVALID_HANDLE);
  if (result == CUDA_SUCCESS) drain(handle, clock_now), handle->closed = true, live_streams--;
  LEAVE;
}
CUresult cuStreamSynchronize(CUstream s) {
  ENTER("cuStreamSynchronize", "%d", stream_of(s) ? stream_of(s)->id : -1);
  NEEDS_CONTEXT;
  REFUSE(stream_of(s) == NULL, CUDA_ERROR_INVALID_HANDLE);
  if (result == CUDA_SUCCESS) result = finish(stream_of(s));
  LEAVE;
}
CUresult cuStreamQuery(CUstream s) {
  ENTER("cuStreamQuery", "%d", stream_of(s) ? stream_of(s)->id : -1);
  NEEDS_CONTEXT;
  REFUSE(stream_of(s) == NULL, CUDA_ERROR_INVALID_HANDLE);
  REFUSE(stream_of(s)->first != NULL, CUDA_ERROR_NOT_READY);
  LEAVE;
}
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *out) {
  ENTER("cuStreamIsCapturing", "%d", stream_of(s) ? stream_of(s)->id : -1);
  REFUSE(stream_of(s) == NULL, CUDA_ERROR_INVALID_HANDLE);
  if (result == CUDA_SUCCESS) *out = stream_of(s)->capturing;
  LEAVE;
}
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags) {
  ENTER("cuStreamWaitEvent", "%d for %d, %u", stream_of(s) ? stream_of(s)->id : -1, e->id, flags);
  NEEDS_CONTEXT;
  REFUSE(stream_of(s) == NULL, CUDA_ERROR_INVALID_HANDLE);
  if (result == CUDA_SUCCESS && e->stream != NULL) {
    work *w = queue(stream_of(s), NULL);
    w->stream = e->stream, w->until = e->when;
  }
  LEAVE;
}

CUresult cuEventCreate(CUevent *out, unsigned flags) {
  ENTER("cuEventCreate", "%u", flags);
  NEEDS_CONTEXT;
  if (result == CUDA_SUCCESS) {
    *out = calloc(1, sizeof **out);
    (*out)->id = ++last_id, (*out)->timed = !(flags & 2);
    live_events++;
  }
  LEAVE;
}
CUresult cuEventDestroy_v2(CUevent e) {
  ENTER("cuEventDestroy_v2", "%d", e->id);
  if (result == CUDA_SUCCESS) free(e), live_events--;
  LEAVE;
}
CUresult cuEventRecord(CUevent e, CUstream s) {
  ENTER("cuEventRecord", "%d on %d", e->id, stream_of(s) ? stream_of(s)->id : -1);
  NEEDS_CONTEXT;
  REFUSE(stream_of(s) == NULL, CUDA_ERROR_INVALID_HANDLE);
  if (result == CUDA_SUCCESS) e->stream = stream_of(s), e->when = queue(e->stream, NULL)->when;
  LEAVE;
}
static bool pending(CUevent e) {
  return e->stream != NULL && e->stream->first != NULL && e->stream->first->when <= e->when;
}
CUresult cuEventQuery(CUevent e) {
  ENTER("cuEventQuery", "%d", e->id);
  REFUSE(pending(e), CUDA_ERROR_NOT_READY);
  LEAVE;
}
CUresult cuEventSynchronize(CUevent e) {
  ENTER("cuEventSynchronize", "%d", e->id);
  if (result == CUDA_SUCCESS && e->stream != NULL) drain(e->stream, e->when);
  LEAVE;
}
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
  ENTER("cuEventElapsedTime", "%d to %d", start->id, end->id);
  REFUSE(!start->timed || !end->timed || start->stream == NULL || end->stream == NULL, CUDA_ERROR_INVALID_HANDLE);
  REFUSE(pending(start) || pending(end), CUDA_ERROR_NOT_READY);
  if (result == CUDA_SUCCESS) *ms = (float)(end->when - start->when);
  LEAVE;
}

CUresult cuPointerGetAttribute(void *out, CUpointer_attribute a, CUdeviceptr p) {
  ENTER("cuPointerGetAttribute", "%d", (int)a);
  memory *m = memory_at(p);
  REFUSE(m == NULL, CUDA_ERROR_INVALID_VALUE);
  if (result == CUDA_SUCCESS) switch ((int)a) {
      case 2: *(unsigned *)out = m->kind == PINNED ? 1 : 2; break;
      case 8: *(bool *)out = m->kind == MANAGED; break;
      case 9: *(int *)out = m->device; break;
      case 11: *(CUdeviceptr *)out = (uintptr_t)m->start; break;
      case 12: *(size_t *)out = m->size; break;
      default: result = CUDA_ERROR_INVALID_VALUE;
    }
  LEAVE;
}

/* ---- kernels: those that are known by name do what they say; others do nothing, but their arguments are logged ---- */

enum { MAX_PARAMS = 8 };
struct CUfunc_st {
  CUfunction next;
  char name[32];
  int params;
  bool known;
};
struct CUmod_st {
  char *text;
  CUfunction strangers;
};
static struct CUfunc_st known[] = {{NULL, "saxpy", 4, true}, {NULL, "scale", 3, true}, {NULL, "nothing", 0, true}};

/* A kernel that nobody knows, whose list of parameters begins at a place in PTX; NULL if that has no end. */
static CUfunction stranger(CUmodule m, const char *name, const char *list) {
  const char *end = strchr(list, ')');
  int params = 0;
  for (const char *at = list; (at = strstr(at, ".param")) != NULL && at < end; at++) params++;
  if (end == NULL || params > MAX_PARAMS) return NULL;
  CUfunction f = calloc(1, sizeof *f);
  snprintf(f->name, sizeof f->name, "%s", name);
  f->params = params, f->next = m->strangers;
  return m->strangers = f;
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options, void **values) {
  ENTER("cuModuleLoadDataEx", "%u options", n);
  NEEDS_CONTEXT;
  if (result == CUDA_SUCCESS && strstr(image, ".entry") == NULL) {
    for (unsigned i = 0; i + 1 < n; i++)
      if (options[i] == 5)
        snprintf(values[i], (size_t)values[i + 1], "ptxas fatal: no .entry in '%.20s'", (const char *)image);
    result = CUDA_ERROR_INVALID_PTX;
  }
  if (result == CUDA_SUCCESS) {
    *out = calloc(1, sizeof **out);
    (*out)->text = strdup(image);
    live_modules++;
  }
  LEAVE;
}
CUresult cuModuleUnload(CUmodule m) {
  ENTER("cuModuleUnload", "");
  for (CUfunction next; result == CUDA_SUCCESS && m->strangers != NULL; m->strangers = next)
    next = m->strangers->next, free(m->strangers);
  if (result == CUDA_SUCCESS) free(m->text), free(m), live_modules--;
  LEAVE;
}
CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name) {
  char wanted[64];
  ENTER("cuModuleGetFunction", "%s", name);
  snprintf(wanted, sizeof wanted, ".entry %s(", name);
  const char *at = strstr(m->text, wanted);
  REFUSE(at == NULL, CUDA_ERROR_NOT_FOUND);
  if (result == CUDA_SUCCESS) {
    *out = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      if (strcmp(known[i].name, name) == 0) *out = &known[i];
    if (*out == NULL) *out = stranger(m, name, at);
    if (*out == NULL) result = CUDA_ERROR_NOT_FOUND;
  }
  LEAVE;
}

static CUresult run_kernel(work *w) {
  int32_t n = (int32_t)w->args[strcmp(w->kernel, "saxpy") == 0 ? 3 : 2];
  float factor;
  if (strcmp(w->kernel, "nothing") == 0) return CUDA_SUCCESS;
  if (strcmp(w->kernel, "scale") == 0) { /* scale(float *x, float a, int n) */
    float *x = (float *)device_bytes(w->args[0], n * sizeof(float));
    memcpy(&factor, &w->args[1], 4);
    if (x == NULL) return CUDA_ERROR_ILLEGAL_ADDRESS;
    for (int i = 0; i < n; i++) x[i] *= factor;
    return CUDA_SUCCESS;
  }
  float *y = (float *)device_bytes(w->args[0], n * sizeof(float)),
        *x = (float *)device_bytes(w->args[1], n * sizeof(float));
  memcpy(&factor, &w->args[2], 4); /* saxpy(float *y, const float *x, float a, int n) */
  if (x == NULL || y == NULL) return CUDA_ERROR_ILLEGAL_ADDRESS;
  for (int i = 0; i < n; i++) y[i] += factor * x[i];
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned bx, unsigned by, unsigned bz, unsigned tx, unsigned ty, unsigned tz,
                        unsigned shared, CUstream s, void **params, void **extra) {
  char args[160] = "";
  for (int i = 0, n = 0; i < f->params && !f->known; i++)
    n += snprintf(args + n, sizeof args - n, "%s%llu", i ? " " : ", of ", *(unsigned long long *)params[i]);
  ENTER("cuLaunchKernel", "%s %ux%ux%u of %ux%ux%u, %u shared, on %d%s", f->name, bx, by, bz, tx, ty, tz, shared,
        stream_of(s) ? stream_of(s)->id : -1, args);
  NEEDS_CONTEXT;
  REFUSE(bx * by * bz == 0 || tx * ty * tz == 0 || tx * ty * tz > 1024 || extra != NULL, CUDA_ERROR_INVALID_VALUE);
  REFUSE(stream_of(s) == NULL, CUDA_ERROR_INVALID_HANDLE);
  if (result == CUDA_SUCCESS) {
    work *w = queue(stream_of(s), f->known ? run_kernel : NULL);
    snprintf(w->kernel, sizeof w->kernel, "%s", f->name);
    for (int i = 0; i < f->params; i++) memcpy(&w->args[i], params[i], 8);
  }
  LEAVE;
}

/* ---- NVRTC, as far as: a program whose text has #error fails, any other becomes one .entry for each __global__ ---- */

#ifndef WITH_CUDA_H
typedef struct program { char *source, log[256], ptx[1024]; } *nvrtcProgram;

int nvrtcCreateProgram(nvrtcProgram *out, const char *source, const char *name, int n, const char *const *headers,
                       const char *const *includes) {
  (void)name, (void)headers, (void)includes;
  if (n != 0) return 3;
  *out = calloc(1, sizeof **out);
  (*out)->source = strdup(source);
  return 0;
}
int nvrtcDestroyProgram(nvrtcProgram *p) { return free((*p)->source), free(*p), 0; }
int nvrtcCompileProgram(nvrtcProgram p, int n, const char *const *options) {
  int end = snprintf(p->ptx, sizeof p->ptx, "//");
  for (int i = 0; i < n; i++) end += snprintf(p->ptx + end, sizeof p->ptx - end, " %s", options[i]);
  for (const char *at = p->source; (at = strstr(at, "__global__ void ")) != NULL;) {
    at += strlen("__global__ void ");
    const char *list = at + strcspn(at, "(");
    end += snprintf(p->ptx + end, sizeof p->ptx - end, "\n.entry %.*s(", (int)(list - at), at);
    for (; *list != 0 && *list != ')'; list++)
      if (*list == ',' || (*list == '(' && list[1] != ')'))
        end += snprintf(p->ptx + end, sizeof p->ptx - end, ".param ");
    end += snprintf(p->ptx + end, sizeof p->ptx - end, ")");
  }
  if (strstr(p->source, "#error") == NULL) return 0;
  snprintf(p->log, sizeof p->log, "k.cu(1): error: #error directive");
  return 6;
}
int nvrtcGetPTXSize(nvrtcProgram p, size_t *n) { return *n = strlen(p->ptx) + 1, 0; }
int nvrtcGetPTX(nvrtcProgram p, char *out) { return strcpy(out, p->ptx), 0; }
int nvrtcGetProgramLogSize(nvrtcProgram p, size_t *n) { return *n = strlen(p->log) + 1, 0; }
int nvrtcGetProgramLog(nvrtcProgram p, char *out) { return strcpy(out, p->log), 0; }
#endif
