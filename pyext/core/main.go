package main

import "C"

import (
	"unsafe"

	"godlpack/pyext"
)

// PyInit__core is what Python calls when it imports the module.
//
// GIL: held.
// Owns: the module definition is static.
// Threads: the importing one.
//
//export PyInit__core
func PyInit__core() unsafe.Pointer { return pyext.Init() }

func main() {}
