/* Greenlets (gevent, eventlet): several stacks take turns in one thread, in any order. Go only distinguishes threads: an entry
   that one greenlet began in a thread must end before an earlier one of another greenlet continues there, or Go ends the
   process. So while a call waits for a callback, calls of other greenlets run on another thread, a proxy, while the calling
   thread waits; their callbacks run in the calling thread. Where the extension's own Go code waits for Python code, this is not
   possible: other greenlets are refused. */
#include <pthread.h>
#include <stdlib.h>

#include "call.h"

/* Identifies the current greenlet: not a reference. NULL if the package is not imported: there are no greenlets then. */
static PyObject *current_greenlet(void) {
  static GD_OWN PyObject *name, *get;
  if (name == NULL) name = PyUnicode_InternFromString("greenlet");
  if (name == NULL) return PyErr_Clear(), NULL;
  PyObject *module = PyDict_GetItemWithError(PyImport_GetModuleDict(), name);
  if (module == NULL) return PyErr_Clear(), NULL;
  if (get == NULL) get = PyObject_GetAttrString(module, "getcurrent");
  PyObject *greenlet = get == NULL ? NULL : PyObject_CallFunctionObjArgs(get, NULL);
  if (greenlet == NULL) return PyErr_Clear(), NULL;
  Py_DecRef(greenlet); /* the thread state has another reference, since it runs */
  return greenlet;
}

/* ---- calls of libraries ---- */

static GD_OWN call *waiting; /* for a callback, on the thread that called */
GD_OWN int gd_waiting;

/* gd_begin_wait records that c waits for Python code.
   GIL: held; no exception is pending.
   Threads: the calling one. */
void gd_begin_wait(call *c) {
  c->wait.caller = PyThread_get_thread_ident();
  c->wait.greenlet = current_greenlet();
  c->wait.outer = waiting;
  waiting = c;
  gd_waiting++;
}

/* gd_end_wait undoes gd_begin_wait, in any order.
   Threads: the calling one. */
void gd_end_wait(call *c) {
  call **at = &waiting;
  while (*at != c) at = &(*at)->wait.outer;
  *at = c->wait.outer;
  gd_waiting--;
}

/* gd_needs_proxy reports whether another greenlet of this thread waits within the same library.
   GIL: held; no exception is pending.
   Threads: the calling one. */
bool gd_needs_proxy(const call *c) {
  uint64_t caller = PyThread_get_thread_ident();
  PyObject *greenlet = current_greenlet();
  for (const call *w = waiting; w != NULL; w = w->wait.outer)
    if (w->wait.caller == caller && w->entry.library == c->entry.library && w->wait.greenlet != greenlet) return true;
  return false;
}

/* gd_lose_waiting marks this thread's calls that wait within the same runtime as c, which is given up, as lost.
   Threads: the calling one. */
void gd_lose_waiting(const call *c) {
  uint64_t caller = PyThread_get_thread_ident();
  for (call *w = waiting; w != NULL; w = w->wait.outer)
    if (w->wait.caller == caller && w->entry.library == c->entry.library) w->entry.lost = true;
}

/* ---- proxies ---- */

typedef struct proxy {
  call *call;
  const GDList *args;
  pthread_t caller;
  pthread_mutex_t mutex; /* protects the fields below */
  pthread_cond_t turned;
  enum { PROXY_TURN, CALLER_TURN, DONE } turn;
  const question *asked;
  int answer; /* result of the question; finally of the call */
} proxy;

static void set_turn(proxy *s, int turn, int answer) {
  pthread_mutex_lock(&s->mutex);
  s->turn = turn;
  s->answer = answer;
  pthread_cond_broadcast(&s->turned);
  pthread_mutex_unlock(&s->mutex);
}

static void wait_while(proxy *s, int turn) {
  pthread_mutex_lock(&s->mutex);
  while ((int)s->turn == turn) pthread_cond_wait(&s->turned, &s->mutex);
  pthread_mutex_unlock(&s->mutex);
}

static void *run(void *argument) {
  proxy *s = argument;
  call *c = s->call;
  set_turn(s, DONE,
           c->entry.library->call(s->args->values, s->args->codes, (int)s->args->n, &c->entry.result, &c->entry.code,
                                  &c->host));
  return NULL;
}

/* gd_is_proxy_thread reports whether this thread is a proxy, which must ask the calling thread for what only that one can do.
   GIL: any.
   Threads: the calling one, or its proxy. */
bool gd_is_proxy_thread(const call *c) {
  return c->wait.proxy != NULL && !pthread_equal(pthread_self(), c->wait.proxy->caller);
}

/* gd_ask_caller passes a question to the calling thread and returns its answer.
   C because: (b).
   GIL: not held.
   Owns: what the question owns passes to the caller.
   Threads: the proxy. */
int gd_ask_caller(call *c, const question *q) {
  proxy *s = c->wait.proxy;
  s->asked = q;
  set_turn(s, CALLER_TURN, 0);
  wait_while(s, CALLER_TURN);
  return s->answer;
}

static int answer_question(call *c, const question *q) {
  switch (q->what) {
    case ASK_INVOKE: return gd_invoke_here(c, q->callable, q->args, q->codes, q->n, q->ret, q->ret_code);
    case ASK_STREAM: return gd_stream_here(c, q->device, q->out);
    default: return gd_poll_here(c);
  }
}

/* Answers the proxy's questions until it is done. False in a child that was forked meanwhile: it has no proxy. */
static bool serve_questions(proxy *s) {
  call *c = s->call;
  for (wait_while(s, PROXY_TURN); s->turn == CALLER_TURN; wait_while(s, PROXY_TURN)) {
    if (c->entry.thread != NULL) PyEval_RestoreThread(c->entry.thread);
    c->entry.thread = NULL;
    int answer = answer_question(c, s->asked);
    if (gd_forks() != c->entry.forks) return gd_call_forked(c), false;
    if (!c->f->holds) c->entry.thread = PyEval_SaveThread();
    set_turn(s, PROXY_TURN, answer);
  }
  return true;
}

/* gd_call_on_proxy makes the call on another thread, and waits for it.
   GIL: as the call has it; taken and released again for callbacks.
   Owns: as the library's call.
   Threads: the calling one. */
int gd_call_on_proxy(call *c, const GDList *args) {
  pthread_t thread;
  proxy *s = malloc(sizeof *s); /* not on the stack, which a greenlet takes away */
  if (s == NULL)
    return gd_call_fails(c, "MemoryError", "no memory to call a Go function while another greenlet waits in one"), -1;
  *s = (proxy){c, args, pthread_self(), PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PROXY_TURN, NULL, -1};
  c->wait.proxy = s;
  bool started = pthread_create(&thread, NULL, run, s) == 0, ended = started && serve_questions(s);
  if (!started)
    gd_call_fails(
        c, "RuntimeError",
        "cannot start a thread to call a Go function while another greenlet waits in one: raise the limit of processes (ulimit -u)");
  if (!ended && started) return -1; /* s is not freed: the thread does not exist in the child */
  if (started) pthread_join(thread, NULL);
  int rc = s->answer;
  c->wait.proxy = NULL;
  free(s);
  return rc;
}

/* ---- entries into the extension's own Go ---- */

typedef struct entry {
  struct entry *next;
  uint64_t thread;
  PyObject *greenlet;
} entry;

static GD_OWN entry *entries; /* of greenlets that are in Go */

/* gd_entry_begin records that this greenlet enters Go, if there are greenlets, and refuses if another one of its thread is in
   Go.
   GIL: held; no exception is pending.
   Owns: *out is for gd_entry_end, NULL if there is nothing to end; false with RuntimeError or MemoryError set. */
bool gd_entry_begin(gd_entry *out) {
  PyObject *greenlet = current_greenlet();
  *out = NULL;
  if (greenlet == NULL) return true;
  uint64_t thread = PyThread_get_thread_ident();
  for (const entry *e = entries; e != NULL; e = e->next)
    if (e->thread == thread && e->greenlet != greenlet)
      return PyErr_SetString(
                 PyExc_RuntimeError,
                 "godlpack: another greenlet of this thread is inside a method that godlpack called (such as __dlpack__ or "
                 "__index__) and has switched to this one: godlpack cannot be used until that method returns. Do not switch greenlets (wait, lock, "
                 "read, print) in such methods"),
             false;
  entry *e = malloc(sizeof *e);
  if (e == NULL) return PyErr_NoMemory(), false;
  *e = (entry){entries, thread, greenlet};
  entries = *out = e;
  return true;
}

/* gd_entry_end undoes gd_entry_begin.
   Owns: takes e, which may be NULL.
   Threads: the same. */
void gd_entry_end(gd_entry e) {
  if (e == NULL) return;
  entry **at = &entries;
  while (*at != e) at = &(*at)->next;
  *at = e->next;
  free(e);
}

/* gd_greenlets_forked forgets the waiting calls and the entries of threads that a child does not have.
   Threads: the only one of a forked child. */
void gd_greenlets_forked(void) {
  uint64_t thread = PyThread_get_thread_ident();
  for (call **at = &waiting; *at != NULL;) {
    if ((*at)->wait.caller == thread) at = &(*at)->wait.outer;
    else *at = (*at)->wait.outer, gd_waiting--;
  }
  for (entry **at = &entries, *next; *at != NULL;) {
    if ((*at)->thread == thread) at = &(*at)->next;
    else next = (*at)->next, free(*at), *at = next;
  }
}
