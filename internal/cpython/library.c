/* Libraries of Go functions: opened at their first call, so that a Go runtime starts only where one is needed, and never
   closed, as a Go runtime cannot be stopped. A forked child opens new copies: the runtimes that it inherited are dead. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core.h"
#include "object.h"

typedef struct gd_library {
  struct gd_library *next;
  const GDLibrary *opened; /* NULL until it is opened */
  const GDLibrary *table;  /* the same, once it is checked and called */
  PyObject *check; /* a callable that compares the table's declarations with the functions', and reports lost state */
  bool loaded;     /* passed to the loader: a forked child has it too, but its Go does not and will not run there */
  bool inherited;  /* loaded before the fork that made this process, or abandoned */
  int link;        /* of signal handlers: below 0 for none */
  uintptr_t code, end; /* the range of its instructions */
  enum {
    NOTHING,
    BY_FORK,
    BY_ABANDON
  } lost;       /* where its state is, after a call: in the parent, or in the abandoned runtime */
  bool told;    /* a warning about the loss became an exception */
  dev_t device; /* with the file's inode and time of change: a rebuilt library is another one */
  ino_t file;
  struct timespec changed;
  gd_objects objects;
  char path[];
} gd_library;

static GD_KEPT gd_library *libraries;
/* opening: held by the thread that opens a library and waits for its Go. loading: held while the loader works for it, without
   the GIL, and by threads that fork: otherwise the child's loader would be in the middle of a load for ever. Recursive, as a
   library's constructor may fork. */
static GD_OWN pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static GD_OWN pthread_mutex_t loading = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static GD_OWN int64_t forks; /* between the first process and this one */

/* gd_forks counts the forks between this process and the one that imported the module.
   GIL: any.
   Threads: any. */
int64_t gd_forks(void) { return forks; }

static void before_fork(void) { pthread_mutex_lock(&loading); }

static void after_fork(void) { pthread_mutex_unlock(&loading); }

static void after_fork_in_child(void) {
  forks++;
  gd_greenlets_forked();
  gd_locks_forked();
  gd_watch_forked();
  opening = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  loading = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  for (gd_library *l = libraries; l != NULL; l = l->next) {
    l->inherited = l->loaded;
    if (l->table != NULL || l->lost != NOTHING) l->lost = BY_FORK;
    l->told = false;
    l->opened = l->table = NULL;
  }
}

/* gd_library_exec registers the fork handlers.
   C because: (b).
   Threads: the importing one, once. */
int gd_library_exec(void) {
  return pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0 ? 0 : (PyErr_NoMemory(), -1);
}

static bool is_file(const gd_library *l, const struct stat *s) {
  return l->device == s->st_dev && l->file == s->st_ino && memcmp(&l->changed, &s->st_mtim, sizeof s->st_mtim) == 0;
}

/* gd_library_at returns the library in the file at path, opened or not.
   C because: (b), its functions outlive any Go runtime.
   Owns: keeps a reference to check; the result lives for ever; NULL with an exception set on failure. */
gd_library *gd_library_at(const char *path, PyObject *check) {
  struct stat s;
  if (stat(path, &s) != 0) return PyErr_SetFromErrnoWithFilename(PyExc_OSError, path), NULL;
  gd_library *l = libraries;
  while (l != NULL && !(strcmp(l->path, path) == 0 && is_file(l, &s))) l = l->next;
  if (l == NULL) {
    if ((l = malloc(sizeof *l + strlen(path) + 1)) == NULL) return PyErr_NoMemory(), NULL;
    *l = (gd_library){.next = libraries, .device = s.st_dev, .file = s.st_ino, .changed = s.st_mtim};
    strcpy(l->path, path);
    libraries = l;
  }
  PyObject *old = l->check;
  Py_IncRef(l->check = check);
  Py_DecRef(old);
  return l;
}

/* Whether the loader would return another library for this one: it identifies libraries by path and by file. The path may have
   named another file before, or a parent process may have opened the file by another path. */
static bool dlopen_returns_another(const gd_library *l) {
  for (const gd_library *k = libraries; k != NULL; k = k->next)
    if (k->loaded && k != l &&
        (strcmp(k->path, l->path) == 0 || (k->inherited && k->device == l->device && k->file == l->file)))
      return true;
  return false;
}

static void *load(gd_library *l, char *why, size_t n) {
  gd_handlers before;
  pthread_mutex_lock(&loading);
  l->loaded = true;
  gd_faults_open();
  gd_signals_read(before);
  void *handle = l->inherited || dlopen_returns_another(l) ? gd_open_copy(l->path, why, n)
                                                           : dlopen(l->path, RTLD_NOW | RTLD_LOCAL);
  l->link = gd_signals_chain(before);
  gd_faults_close();
  pthread_mutex_unlock(&loading);
  return handle;
}

/* gd_find_code finds the range of instructions that contains inside: all of its library. 0 to 0 if that is unknown.
   C because: (b).
   GIL: any.
   Threads: any, but not in a signal handler. */
void gd_find_code(const void *inside, uintptr_t *start, uintptr_t *end) {
  Dl_info info;
  *start = *end = 0;
  if (dladdr(inside, &info) == 0) return;
  const ElfW(Ehdr) *file = info.dli_fbase;
  const ElfW(Phdr) *part = (const ElfW(Phdr) *)((const char *)file + file->e_phoff);
  uintptr_t base = file->e_type == ET_EXEC ? 0 : (uintptr_t)file;
  for (int i = 0; i < file->e_phnum; i++) {
    uintptr_t from = base + part[i].p_vaddr, to = from + part[i].p_memsz;
    if (part[i].p_type == PT_LOAD && part[i].p_flags & PF_X && from <= (uintptr_t)inside && (uintptr_t)inside < to)
      *start = from, *end = to;
  }
}

/* Opens the file, and waits until its Go runs; NULL with the reason in why, and with the exception to raise if there is no room
   for another Go runtime. Without the GIL: it takes milliseconds. */
static const GDLibrary *open_file(gd_library *l, PyObject **error, char *why, size_t n) {
  why[0] = 0;
  if ((*error = gd_no_room(why, n)) != NULL) return NULL;
  void *handle = load(l, why, n);
  const GDLibrary *(*get)(void) = handle == NULL ? NULL : (const GDLibrary *(*)(void))dlsym(handle, "godlpack_library");
  const GDLibrary *table = get == NULL ? NULL : get();
  const char *reason = get == NULL ? dlerror() : "godlpack_library() returned no table";
  if (table == NULL && why[0] == 0) PyOS_snprintf(why, n, "%s", reason == NULL ? "dlopen failed" : reason);
  if (table == NULL) gd_say_remedy(why, n);
  return table;
}

/* Makes sure that a child opens the same file as its parent, and records the file of a first opening: it may have been rebuilt
   since gd_library_at. */
static bool check_file(gd_library *l) {
  struct stat s;
  bool there = stat(l->path, &s) == 0;
  if (!l->loaded && there) l->device = s.st_dev, l->file = s.st_ino, l->changed = s.st_mtim;
  if (!l->inherited || (there && is_file(l, &s))) return true;
  return PyErr_Format(PyExc_ImportError, "godlpack: %s is no longer the file that was opened before: load it again",
                      l->path),
         false;
}

static const char *table_fault(const GDLibrary *t, char *text, size_t n) {
  if (t->version != GODLPACK_LIBRARY_VERSION)
    PyOS_snprintf(text, n,
                  "its table has version %u, but this godlpack supports version %d: build it again with this godlpack",
                  t->version, GODLPACK_LIBRARY_VERSION);
  else if (t->size < offsetof(GDLibrary, call) + sizeof t->call || t->count < 0 ||
           (t->count > 0 && t->functions == NULL) || t->call == NULL)
    PyOS_snprintf(text, n, "its table of %u bytes is not complete", t->size);
  else return NULL;
  return text;
}

/* Returns the functions of a table: a list of pairs (name, declaration). */
static PyObject *declarations_of(const GDLibrary *t) {
  PyObject *list = PyList_New(0);
  for (int64_t i = 0; list != NULL && i < t->count; i++) {
    const GDFunction *f = &t->functions[i];
    PyObject *pair = f->name == NULL ? NULL
                                     : Py_BuildValue("(ss)", f->name, f->declaration == NULL ? "" : f->declaration);
    if (f->name == NULL) PyErr_Format(PyExc_RuntimeError, "function %d of the library has no name", (int)i);
    bool done = pair != NULL && PyList_Append(list, pair) == 0;
    Py_DecRef(pair);
    if (!done) Py_DecRef(list), list = NULL;
  }
  return list;
}

static const char *state_of(const GDLibrary *t) {
  return t->size < offsetof(GDLibrary, state) + sizeof t->state ? NULL : t->state;
}

/* gd_library_open returns the table of a library. It opens and checks the library if necessary. f is the function that is
   called, NULL if the table is only read: no state counts as lost then. A function without a place in the table, one that takes
   log records or progress, does not open the library.
   GIL: held; released while the library opens.
   Owns: the table lives for ever; NULL with an exception set on failure: ImportError if the file is no library of ours,
     RuntimeError if it is not the one that its functions were made from, or must not be called without its lost
     state; MemoryError or RuntimeError if no Go runtime can start now.
   Threads: any with the GIL; the first opens, others wait. */
const GDLibrary *gd_library_open(gd_library *l, const gd_function *f) {
  if (l->table != NULL) return l->table;
  if (f != NULL && f->index < 0) {
    if (l->opened == NULL) PyErr_SetString(PyExc_ImportError, "the library does not run");
    return l->opened;
  }
  if (!check_file(l)) return NULL;
  char why[512];
  PyObject *error = NULL;
  PyThreadState *thread = PyEval_SaveThread();
  pthread_mutex_lock(&opening);
  const GDLibrary *table = l->opened != NULL ? l->opened : open_file(l, &error, why, sizeof why);
  const char *fault = table == NULL ? why : table_fault(table, why, sizeof why);
  if (fault == NULL) gd_find_code((void *)table->call, &l->code, &l->end);
  l->opened = table;
  pthread_mutex_unlock(&opening);
  PyEval_RestoreThread(thread);
  if (fault != NULL)
    return PyErr_Format(error != NULL ? error : PyExc_ImportError, "godlpack: %s cannot be used: %s", l->path, fault),
           NULL;
  gd_watch_calls();
  PyObject *declarations = declarations_of(table), *check = l->check;
  Py_IncRef(check); /* the call may replace it */
  PyObject *caller = f != NULL && l->lost != NOTHING && !l->told ? f->qualname : Py_None;
  PyObject *checked = declarations == NULL ? NULL
                                           : PyObject_CallFunction(check, "OzOi", declarations, state_of(table), caller,
                                                                   l->lost == BY_FORK);
  Py_DecRef(check);
  Py_DecRef(declarations);
  if (checked == NULL) return l->told |= PyErr_ExceptionMatches(PyExc_Warning) != 0, NULL;
  Py_DecRef(checked);
  if (PyErr_CheckSignals() != 0) return NULL;           /* signals that arrived during the opening */
  if (l->opened != table) return gd_library_open(l, f); /* the check may have forked */
  if (f != NULL) l->table = table;
  if (!gd_threads_apply()) return NULL;
  return l->opened == table ? table : gd_library_open(l, f); /* a warning may have forked, too */
}

/* gd_library_objects returns what the library's objects are to Python. */
gd_objects *gd_library_objects(gd_library *l) { return &l->objects; }

/* gd_library_running returns the table of the library's runtime in this process, NULL if it does not run. */
const GDLibrary *gd_library_running(const gd_library *l) { return l->opened; }

/* gd_library_threads passes the number of threads that Go may compute in to all open libraries. */
void gd_library_threads(int n) {
  for (gd_library *l = libraries; l != NULL; l = l->next) {
    const GDLibrary *t = l->opened;
    if (t != NULL && t->version == GODLPACK_LIBRARY_VERSION &&
        t->size >= offsetof(GDLibrary, threads) + sizeof t->threads && t->threads != NULL)
      t->threads(n);
  }
}

/* gd_library_runs reports whether the instruction at pc is the library's.
   C because: (b), a signal handler calls it.
   GIL: any.
   Threads: any. */
bool gd_library_runs(const gd_library *l, uintptr_t pc) { return l->code <= pc && pc < l->end; }

/* gd_library_abandon gives up the library's runtime after a jump out of one of its goroutines: it can neither collect garbage
   nor stop. No thread enters it any more; the next call opens a copy.
   Owns: nothing passes; the runtime's memory and threads stay for ever. */
void gd_library_abandon(gd_library *l) {
  const GDLibrary *t = l->opened;
  if (t != NULL && t->size >= offsetof(GDLibrary, retire) + sizeof t->retire && t->retire != NULL) t->retire();
  gd_faults_open();
  gd_signals_drop(l->link);
  gd_faults_close();
  l->inherited = true;
  l->opened = l->table = NULL;
  l->lost = BY_ABANDON;
  l->told = false;
}

static const char *classes_of(const GDLibrary *t) {
  return t->size < offsetof(GDLibrary, classes) + sizeof t->classes ? NULL : t->classes;
}

static const char *exceptions_of(const GDLibrary *t) {
  return t->size < offsetof(GDLibrary, exceptions) + sizeof t->exceptions ? NULL : t->exceptions;
}

/* gd_declarations is _declarations: it opens the library at a path and returns its functions' names and declarations, and the
   JSON of its classes and of its exceptions, each of which may be None.
   C because: (b).
   GIL: held; released while the library opens. */
PyObject *gd_declarations(PyObject *module, PyObject *arguments) {
  const char *path;
  PyObject *check;
  (void)module;
  gd_library *l = PyArg_ParseTuple(arguments, "sO:_declarations", &path, &check) ? gd_library_at(path, check) : NULL;
  const GDLibrary *table = l == NULL ? NULL : gd_library_open(l, NULL);
  PyObject *list = table == NULL ? NULL : declarations_of(table);
  PyObject *all = list == NULL ? NULL : Py_BuildValue("(Ozz)", list, classes_of(table), exceptions_of(table));
  Py_DecRef(list);
  return all;
}
