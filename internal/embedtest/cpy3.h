/* Functions that cpy3 v0.2.0 calls and newer Pythons do not have. tools/embedtest.py includes this file before each of its C
   files. Python.h must not be included: cgo compiles its own declarations of Python's names with the same flags. */
#ifndef GODLPACK_CPY3_H
#define GODLPACK_CPY3_H
#if __has_include(<patchlevel.h>)
#include <patchlevel.h>
#include <stddef.h>

static inline int PyDict_ClearFreeList(void) { return 0; }
static inline int PyList_ClearFreeList(void) { return 0; }
static inline int PyFloat_ClearFreeList(void) { return 0; }
static inline void PyEval_ReInitThreads(void) {}
static inline int PySignal_SetWakeupFd(int fd) { return -1; }

#if PY_VERSION_HEX >= 0x030D0000
static inline int PyEval_ThreadsInitialized(void) { return 1; }
static inline void PySys_AddWarnOption(const wchar_t *option) {}
static inline void PySys_AddXOption(const wchar_t *option) {}
static inline void PySys_SetPath(const wchar_t *path) {}
static inline void Py_SetPath(const wchar_t *path) {}
static inline int Py_SetStandardStreamEncoding(const char *encoding, const char *errors) { return -1; }
#endif

#endif
#endif
