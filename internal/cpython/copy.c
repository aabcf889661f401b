/* A second copy of a loaded shared library. The loader identifies a library by its name and its inode, so the copy is a new
   file: in memory, or in a folder for temporary files where the kernel allows no executable memory file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U /* since Linux 6.3; there, vm.memfd_noexec may refuse a file without it */
#endif

static bool copy_bytes(int from, int to) {
  struct stat s;
  off_t at = 0;
  if (fstat(from, &s) != 0) return false;
  while (at < s.st_size)
    if (sendfile(to, from, &at, (size_t)(s.st_size - at)) <= 0) return false; /* 0: the file became shorter */
  return true;
}

/* Opens the library in file fd. An older copy may have had the same path, by the same descriptor, and the loader would return
   that copy: so a descriptor is chosen whose path is new to the loader. */
static void *open_descriptor(int fd) {
  char path[32];
  void *library = NULL;
  for (;;) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *older = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (older == NULL) break;
    dlclose(older);
    int next = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
    close(fd);
    if ((fd = next) < 0) return NULL;
  }
  dlerror(); /* a missing older copy is not an error */
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(fd);
  return library;
}

static void *open_in_memory(int from, char *why, size_t size) {
  int fd = memfd_create("godlpack", MFD_CLOEXEC | MFD_EXEC);
  if (fd < 0 && errno == EINVAL) fd = memfd_create("godlpack", MFD_CLOEXEC); /* an older kernel */
  if (fd < 0 || !copy_bytes(from, fd)) {
    snprintf(why, size, "cannot create a file in memory: %s", strerror(errno));
    if (fd >= 0) close(fd);
    return NULL;
  }
  void *library = open_descriptor(fd);
  if (library == NULL) snprintf(why, size, "%s", dlerror());
  return library;
}

static void *open_in_folder(int from, char *why, size_t size) {
  const char *folder = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/godlpack-XXXXXX", folder == NULL || *folder == 0 ? "/tmp" : folder);
  int fd = mkostemp(path, O_CLOEXEC);
  bool copied = fd >= 0 && copy_bytes(from, fd);
  int error = errno;
  if (fd >= 0) close(fd);
  void *library = copied ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  size_t used = strlen(why);
  if (library == NULL) snprintf(why + used, size - used, "; %s: %s", path, copied ? dlerror() : strerror(error));
  if (fd >= 0) unlink(path);
  return library;
}

/* gd_say_remedy adds the remedy to the loader's message, where one is known.
   GIL: not needed.
   Threads: any. */
void gd_say_remedy(char *why, size_t size) {
  size_t used = strlen(why);
  if (strstr(why, "static TLS") != NULL)
    snprintf(
        why + used, size - used,
        ": start Python with GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384 in its environment, for 2,000 more Go runtimes");
}

/* gd_open_copy opens a copy of the library at path that shares no variable with the copies that are open; its symbols stay
   local. On failure why (of size bytes, at least one) lists what was tried, and the errors.
   C because: (c), a forked child without Go needs it to get Go.
   GIL: not needed; the library's constructors run.
   Owns: the caller may dlclose the result; NULL on failure.
   Threads: any. */
void *gd_open_copy(const char *path, char *why, size_t size) {
  why[0] = 0;
  int from = open(path, O_RDONLY | O_CLOEXEC);
  if (from < 0) {
    snprintf(why, size, "%s: %s", path, strerror(errno));
    return NULL;
  }
  void *library = open_in_memory(from, why, size);
  if (library == NULL) library = open_in_folder(from, why, size);
  close(from);
  return library;
}
