/* Lets allocations of watched libraries fail: preloaded (LD_PRELOAD), and told by fail_arm() which one. It counts, in the
   thread that armed it, the calls of malloc and its kin, mmap, memfd_create, pthread_create, pthread_key_create, pthread_atfork
   and dlopen that a watched library makes, and the calls of Python's allocators for a function of Python that a watched library called. The call of that number
   fails, and all later ones too if so wanted.

   Not counted is what Go's own runtime asks for, whose failure is the end of the process by Go's design: threads, once it
   runs, and the memory of its heap. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

#define EXPORT __attribute__((visibility("default")))

enum {
  DEEP = 48,         /* frames between Python's allocator and the caller of Python */
  THREAD_START = 24, /* bytes that Go's runtime/cgo takes to start a thread */
  OURS_MAPPED = 4
      << 20, /* bytes from which on godlpack maps memory; Go's runtime maps less at once, or reserves first */
};

static __thread struct {
  long count, first;
  bool armed, forever, fired, threads, busy;
} state;
static char watched[1024]; /* parts of the paths of libraries, each between colons */

/* Which library an address of code is in. The loader's answer takes long, and the addresses are few. */
typedef struct {
  const void *address, *base, *function;
  bool watched;
} place;

static bool is_listed(const char *path) {
  char name[64];
  for (const char *part = watched; *part != 0; part += strcspn(part, ":"), part += *part == ':') {
    snprintf(name, sizeof name, "%.*s", (int)strcspn(part, ":"), part);
    if (strstr(path, name) != NULL) return true;
  }
  return false;
}

static place place_of(const void *address) {
  static __thread place known[1 << 12];
  place *p = &known[((uintptr_t)address * 0x9E3779B97F4A7C15u) >> 52];
  Dl_info info;
  if (p->address != address) {
    bool found = dladdr(address, &info) != 0 && info.dli_fname != NULL;
    *p = (place){address, found ? info.dli_fbase : NULL, found ? info.dli_saddr : NULL,
                 found && is_listed(info.dli_fname)};
  }
  return *p;
}

/* Counts one call; true if it must fail. */
static bool hit(void) {
  state.count++;
  bool now = state.forever ? state.count >= state.first : state.count == state.first;
  state.fired |= now;
  return now;
}

/* Whether the call to address's function, of C, must fail. */
static bool fails(const void *address) {
  if (!state.armed || state.busy) return false;
  state.busy = true;
  bool ours = place_of(address).watched;
  state.busy = false;
  return ours && hit();
}
#define FAILS() fails(__builtin_extract_return_addr(__builtin_return_address(0)))

/* ---- C's allocators ---- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

EXPORT void *malloc(size_t n) { return n != THREAD_START && FAILS() ? errno = ENOMEM, NULL : __libc_malloc(n); }
EXPORT void *calloc(size_t n, size_t size) { return FAILS() ? errno = ENOMEM, NULL : __libc_calloc(n, size); }
EXPORT void *realloc(void *p, size_t n) { return FAILS() ? errno = ENOMEM, NULL : __libc_realloc(p, n); }
EXPORT void *aligned_alloc(size_t a, size_t n) { return FAILS() ? errno = ENOMEM, NULL : __libc_memalign(a, n); }
EXPORT int posix_memalign(void **out, size_t a, size_t n) {
  if (FAILS()) return ENOMEM;
  return (*out = __libc_memalign(a, n)) == NULL ? ENOMEM : 0;
}

/* ---- the system's ---- */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

EXPORT void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
  static __typeof__(&mmap) real;
  if (real == NULL) real = REAL(mmap);
  bool candidate = at == NULL && n >= OURS_MAPPED && protection == (PROT_READ | PROT_WRITE);
  return candidate && FAILS() ? errno = ENOMEM, MAP_FAILED : real(at, n, protection, flags, fd, offset);
}
EXPORT int memfd_create(const char *name, unsigned flags) {
  return FAILS() ? errno = EMFILE, -1 : REAL(memfd_create)(name, flags);
}
EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  return state.threads && FAILS() ? EAGAIN : REAL(pthread_create)(thread, attributes, run, argument);
}
EXPORT int pthread_key_create(pthread_key_t *key, void (*destroy)(void *)) {
  return FAILS() ? EAGAIN : REAL(pthread_key_create)(key, destroy);
}
/* What pthread_atfork calls, which is a part of each library. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);
EXPORT int __register_atfork(void (*before)(void), void (*after)(void), void (*in_child)(void), void *library) {
  return FAILS() ? ENOMEM : REAL(__register_atfork)(before, after, in_child, library);
}
EXPORT void *dlopen(const char *path, int flags) {
  if ((flags & RTLD_NOLOAD) == 0 && FAILS()) return dlsym(RTLD_NEXT, "no such symbol: what dlerror() says"), NULL;
  return REAL(dlopen)(path, flags);
}

/* ---- Python's ---- */

typedef struct {
  void *ctx;
  void *(*malloc)(void *, size_t);
  void *(*calloc)(void *, size_t, size_t);
  void *(*realloc)(void *, void *, size_t);
  void (*free)(void *, void *);
} allocator; /* PyMemAllocatorEx */
enum { DOMAINS = 3 };
static allocator before[DOMAINS];

extern void PyMem_GetAllocator(int domain, allocator *) __attribute__((weak));
extern void PyMem_SetAllocator(int domain, allocator *) __attribute__((weak));

extern void _PyEval_EvalFrameDefault(void) __attribute__((weak));
extern void _PyFunction_Vectorcall(void) __attribute__((weak));

static bool runs_python_code(place at) {
  return at.function != NULL &&
         (at.function == (void *)_PyEval_EvalFrameDefault || at.function == (void *)_PyFunction_Vectorcall);
}

/* Whether the innermost function that is not Python's own is a watched library's, and asked for it itself: no code in Python
   runs in between, which has its own troubles without memory. Nobody looks farther out: a greenlet's stack ends in another's. */
typedef struct {
  const void *python, *self;
  int left;
  bool watched;
} search;

static _Unwind_Reason_Code look_at(struct _Unwind_Context *frame, void *searching) {
  search *s = searching;
  place at = place_of((void *)_Unwind_GetIP(frame));
  if (s->left-- == 0 || runs_python_code(at)) return _URC_NORMAL_STOP;
  if (at.base == s->python || at.base == s->self) return _URC_NO_REASON;
  return s->watched = at.watched, _URC_NORMAL_STOP;
}

static bool is_for_watched(void) {
  search s = {place_of((void *)PyMem_SetAllocator).base, place_of((void *)is_for_watched).base, DEEP, false};
  _Unwind_Backtrace(look_at, &s);
  return s.watched;
}

static bool python_fails(void) {
  if (!state.armed || state.busy) return false;
  state.busy = true;
  bool ours = is_for_watched();
  state.busy = false;
  return ours && hit();
}

static void *python_malloc(void *ctx, size_t n) {
  allocator *a = ctx;
  return python_fails() ? NULL : a->malloc(a->ctx, n);
}
static void *python_calloc(void *ctx, size_t n, size_t size) {
  allocator *a = ctx;
  return python_fails() ? NULL : a->calloc(a->ctx, n, size);
}
static void *python_realloc(void *ctx, void *p, size_t n) {
  allocator *a = ctx;
  return python_fails() ? NULL : a->realloc(a->ctx, p, n);
}
static void python_free(void *ctx, void *p) {
  allocator *a = ctx;
  a->free(a->ctx, p);
}

/* ---- for tests, by ctypes ---- */

/* Watches libraries whose path has one of these parts, which are set apart by colons. Once, while only one thread runs. */
EXPORT void fail_watch(const char *parts) {
  strncpy(watched, parts, sizeof watched - 1);
  is_for_watched(); /* loads its symbols in advance */
  for (int i = 0; i < DOMAINS && before[i].malloc == NULL; i++) {
    PyMem_GetAllocator(i, &before[i]);
    PyMem_SetAllocator(i, &(allocator){&before[i], python_malloc, python_calloc, python_realloc, python_free});
  }
}

/* From now on the first'th allocation in this thread fails, and all behind it if forever; threads: pthread_create counts. */
EXPORT void fail_arm(long first, int forever, int threads) {
  state.count = 0;
  state.first = first;
  state.forever = forever;
  state.threads = threads;
  state.fired = false;
  state.armed = true;
}

/* Ends it; whether one failed. */
EXPORT int fail_disarm(void) {
  state.armed = false;
  return state.fired;
}

EXPORT long fail_count(void) { return state.count; }
