// Command core is the extension module godlpack._core, built with -buildmode=c-shared. Its one symbol is PyInit__core, a C
// function (internal/cpython/module.c): Python loads the module without entering Go.
//
//	go build -buildmode=c-shared -o python/godlpack/_core.abi3.so ./pyext/core
package main
