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

// godlpackTable returns the table; its first call makes it. cgo delays the call until all init functions have run, so that all
// functions are registered.
//
// GIL: any.
// Owns: nothing passes; the table lives as long as the process.
// Threads: any.
//
//export godlpackTable
func godlpackTable() *C.GDLibrary { return table() }

// made holds the table, once there was memory for it.
var made struct {
	sync.Mutex
	table *C.GDLibrary
}

// table returns nil without memory; a later call may succeed.
func table() *C.GDLibrary {
	made.Lock()
	defer made.Unlock()
	if made.table == nil {
		made.table = newTable(kernel.Funcs())
	}
	return made.table
}

// newTable makes the table in one block of C memory, which is never freed; nil without memory.
func newTable(functions []*kernel.Func) *C.GDLibrary {
	state, classes, exceptions := kernel.Remembered(), kernel.Classes(), kernel.Exceptions()
	texts := []string{name(), state, classes, exceptions}
	size := 0
	for _, f := range functions {
		declaration, err := json.Marshal(f)
		if err != nil {
			declaration = []byte("{}") // a prepared Func has no value that JSON lacks
		}
		texts = append(texts, f.Name, string(declaration))
	}
	for _, text := range texts {
		size += len(text) + 1
	}
	head := int(unsafe.Sizeof(C.GDLibrary{})) + len(functions)*int(unsafe.Sizeof(C.GDFunction{}))
	block := C.calloc(1, C.size_t(head+size))
	if block == nil {
		return nil
	}
	l := (*C.GDLibrary)(block)
	rows := unsafe.Slice((*C.GDFunction)(unsafe.Add(block, unsafe.Sizeof(*l))), len(functions))
	room := unsafe.Slice((*byte)(unsafe.Add(block, head)), size)
	place := func(text string) *C.char { // zeros follow it
		at := (*C.char)(unsafe.Pointer(&room[0]))
		room = room[copy(room, text)+1:]
		return at
	}
	l.name = place(texts[0])
	if at := place(texts[1]); state != "" {
		l.state = at
	}
	if at := place(texts[2]); classes != "" {
		l.classes = at
	}
	if at := place(texts[3]); exceptions != "" {
		l.exceptions = at
	}
	for i := range rows {
		rows[i].name, rows[i].declaration = place(texts[2*i+4]), place(texts[2*i+5])
	}
	l.version, l.size = C.GODLPACK_LIBRARY_VERSION, C.uint32_t(unsafe.Sizeof(*l))
	l.count, l.functions, l.call = C.int64_t(len(functions)), unsafe.SliceData(rows), C.gd_entry()
	l.retire, l.threads, l.drop = C.gd_retire(), C.gd_threads_entry(), C.gd_drop_entry()
	l.address = C.gd_address_entry()
	return l
}

// name returns the path of the library's main module.
func name() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" {
		return info.Main.Path
	}
	return "unknown"
}
