/* The memory, threads and files that a Go runtime takes when it starts. They are checked before, because Go ends the process
   without them: each is taken for a moment and given back. Another thread may take it in between, and what Go takes later
   cannot be ensured: see docs/architecture.md. tests/test_limits.py fails if a new Go takes more. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core.h"

#define MEGABYTE ((size_t)1 << 20)
enum {
  RESERVED = 1098 +
      2 * 64,        /* megabytes of addresses: an index of all addresses (Go continues without a part of it, but then
                               writes to the memory of others), and two pieces of its heap */
  WRITTEN = 48,      /* megabytes that are mapped writable: a map of the heap's pieces, and records */
  EACH = 64,         /* megabytes of addresses that malloc reserves for each new thread, and once more for alignment */
  OWN = 6,           /* threads beside the workers: Go's main one, its monitor, those that start or relieve others */
  MOST = 64,         /* workers: at most so many are probed; a machine may have more processors */
  PROBE = 256 << 10, /* bytes of stack of a probing thread */
  FILES = 4,         /* Go's network poller keeps two of them */
};

/* Returns the number of threads that work at a time, by Go's rules. */
static int processors(void) {
  const char *asked = getenv("GOMAXPROCS");
  int n = asked == NULL ? 0 : atoi(asked);
  cpu_set_t set;
  if (n <= 0)
    n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                    : MOST; /* more processors than the set can hold */
  return n < MOST ? n : MOST;
}

static const char *limit_text(int resource, char *text, size_t n) {
  struct rlimit l;
  if (getrlimit(resource, &l) != 0 || l.rlim_cur == RLIM_INFINITY) return "unlimited";
  PyOS_snprintf(text, n, "%llu MB", (unsigned long long)(l.rlim_cur / MEGABYTE));
  return text;
}

static bool has_memory(int threads, char *why, size_t n) {
  pthread_attr_t usual;
  size_t stack = 8 * MEGABYTE, wanted, written;
  if (pthread_getattr_default_np(&usual) == 0) {
    pthread_attr_getstacksize(&usual, &stack);
    pthread_attr_destroy(&usual);
  }
  wanted = (size_t)(RESERVED + (threads + 1) * EACH) * MEGABYTE;
  written = WRITTEN * MEGABYTE + (size_t)threads * stack;
  void *addresses = mmap(NULL, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *pages = mmap(NULL, written, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void *one = mmap(NULL, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0); /* the kernel may refuse the size itself */
  bool there = addresses != MAP_FAILED && pages != MAP_FAILED && one != MAP_FAILED;
  if (one != MAP_FAILED) munmap(one, stack);
  if (addresses != MAP_FAILED) munmap(addresses, wanted);
  if (pages != MAP_FAILED) munmap(pages, written);
  char v[32], d[32];
  if (!there)
    PyOS_snprintf(
        why, n,
        "a Go runtime may take %zu MB of address space on %d processors, %zu MB of it for data, but less is available: raise "
        "the limit (ulimit -v is %s, ulimit -d is %s)%s, or set the environment variable GOMAXPROCS to fewer processors",
        (wanted + written) / MEGABYTE, threads - OWN, written / MEGABYTE, limit_text(RLIMIT_AS, v, sizeof v),
        limit_text(RLIMIT_DATA, d, sizeof d), stack > 8 * MEGABYTE ? ", take smaller stacks (ulimit -s)" : "");
  return there;
}

static void *wait_for(void *gate) {
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* Starts all threads at the same time. */
static bool has_threads(int threads, char *why, size_t n) {
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_t made[MOST + OWN];
  pthread_attr_t small;
  sigset_t all, before;
  int count = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PROBE);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* new threads inherit the mask: other threads get the signals */
  pthread_mutex_lock(&gate);
  while (count < threads && pthread_create(&made[count], &small, wait_for, &gate) == 0) count++;
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < count; i++) pthread_join(made[i], NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&small);
  if (count < threads)
    PyOS_snprintf(
        why, n,
        "a Go runtime may take %d threads on %d processors, but only %d more are allowed: raise the limit of threads "
        "(ulimit -u, or pids.max of the container), or set the environment variable GOMAXPROCS to fewer processors",
        threads, threads - OWN, count);
  return count == threads;
}

static bool has_files(char *why, size_t n) {
  int made[FILES], count = 0;
  while (count < FILES && (made[count] = eventfd(0, EFD_CLOEXEC)) >= 0) count++;
  for (int i = 0; i < count; i++) close(made[i]);
  if (count < FILES)
    PyOS_snprintf(
        why, n,
        "a Go runtime takes %d file descriptors to start, but only %d more are allowed: close files, or raise their limit "
        "(ulimit -n)",
        FILES, count);
  return count == FILES;
}

/* gd_no_room reports whether a Go runtime can start: NULL if it can, otherwise the exception to raise, with the reason in why.
   C because: (c), there is no Go yet.
   GIL: held or not.
   Owns: the result is borrowed.
   Threads: any. */
PyObject *gd_no_room(char *why, size_t n) {
  int threads = OWN + processors();
  if (!has_memory(threads, why, n)) return PyExc_MemoryError;
  return has_threads(threads, why, n) && has_files(why, n) ? NULL : PyExc_RuntimeError;
}
