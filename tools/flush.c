/* For cover.py. gcov writes its counts down when a process exits in an orderly way. Forked children, and processes that
   crash on purpose, do not: so their counts are written here, before the process goes.

   It is compiled twice. With -DBEFORE_THE_END it is a library to preload, which stands before the functions that end a
   process; without, it is a part of each library that is counted, and tells the former how to write down its counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

typedef void flush(void);

#ifdef BEFORE_THE_END

enum { LIBRARIES = 512 };
static flush *_Atomic flushes[LIBRARIES];
static atomic_int count;

void godlpack_cover(flush *f) {
  int i = atomic_fetch_add(&count, 1);
  if (i < LIBRARIES) flushes[i] = f;
}

static void flush_all(void) {
  static atomic_flag busy = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&busy)) return; /* a fault while counts were written */
  int n = count < LIBRARIES ? count : LIBRARIES;
  for (int i = 0; i < n; i++)
    if (flushes[i] != NULL) flushes[i]();
  atomic_flag_clear(&busy);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void _exit(int status) {
  flush_all();
  REAL(_exit)(status);
  __builtin_unreachable();
}

void _Exit(int status) { _exit(status); }

void abort(void) {
  flush_all();
  REAL(abort)();
  __builtin_unreachable();
}

int raise(int number) {
  flush_all();
  return REAL(raise)(number);
}

int kill(pid_t process, int number) {
  if (process == getpid() && number != 0) flush_all();
  return REAL(kill)(process, number);
}

sighandler_t signal(int number, sighandler_t handler) {
  if (handler == SIG_DFL) flush_all(); /* a fault will happen again, and end the process */
  return REAL(signal)(number, handler);
}

int execve(const char *path, char *const arguments[], char *const environment[]) {
  flush_all();
  return REAL(execve)(path, arguments, environment);
}

#else

extern void __gcov_dump(void), __gcov_reset(void);

static void flush_own(void) {
  __gcov_dump();
  __gcov_reset();
}

__attribute__((constructor)) static void say_so(void) {
  void (*cover)(flush *) = (void (*)(flush *))dlsym(RTLD_DEFAULT, "godlpack_cover");
  if (cover != NULL) cover(flush_own);
}

#endif
