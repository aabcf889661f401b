package cpython

// #include "core.h"
// PyObject *gd_module_init(void);
import "C"

import "unsafe"

// ModuleInit is what the module's PyInit function returns.
//
// GIL: held.
// Owns: the result is a static module definition.
// Threads: the importing one.
func ModuleInit() unsafe.Pointer { return unsafe.Pointer(C.gd_module_init()) }
