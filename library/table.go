package library

// #include <stdlib.h>
// #include "library.h"
import "C"

import (
	"encoding/json"
	"runtime/debug"
	"sync"
	"unsafe"

	"godlpack/kernel"
)

// godlpackTable returns the table; its first call makes it. cgo lets the call in once all init functions have run, so that
// all functions are there.
//
// GIL: any.
// Owns: nothing passes; the table lives as long as the process.
// Threads: any.
//
//export godlpackTable
func godlpackTable() *C.GDLibrary { return table() }

var table = sync.OnceValue(func() *C.GDLibrary {
	functions := kernel.Funcs()
	l := (*C.GDLibrary)(C.calloc(1, C.size_t(unsafe.Sizeof(C.GDLibrary{}))))
	rows := (*C.GDFunction)(C.calloc(C.size_t(len(functions)+1), C.size_t(unsafe.Sizeof(C.GDFunction{}))))
	if l == nil || rows == nil {
		return nil
	}
	for i, f := range functions {
		declaration, err := json.Marshal(f)
		if err != nil {
			declaration = []byte("{}") // a Func that was prepared has no value that JSON lacks
		}
		row := &unsafe.Slice(rows, len(functions))[i]
		row.name, row.declaration = C.CString(f.Name), C.CString(string(declaration))
	}
	l.version, l.size = C.GODLPACK_LIBRARY_VERSION, C.uint32_t(unsafe.Sizeof(*l))
	if state := kernel.Remembered(); state != "" {
		l.state = C.CString(state)
	}
	l.name, l.count, l.functions, l.call = C.CString(name()), C.int64_t(len(functions)), rows, C.gd_entry()
	l.retire = C.gd_retire()
	l.threads = C.gd_threads_entry()
	return l
})

// name is the path of the module that the library was built in.
func name() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" {
		return info.Main.Path
	}
	return "unknown"
}
