// Package library makes a C library of the functions that are registered with package kernel: an author's package main
// imports it for its effect, and is built by go build -buildmode=c-shared.
//
//	package main
//
//	import (
//		_ "example.org/fastops" // registers its functions
//		_ "godlpack/library"
//	)
//
//	func main() {}
//
// The library exports godlpack_library alone, if it is linked with the version script exports.map:
//
//	go build -buildmode=c-shared -ldflags='-extldflags=-Wl,--version-script=library/exports.map' -o fastops.so ./main
//
// godlpack.h defines the interface to hosts: a table of functions in C memory, and one entry. The library contains no Python,
// and does not distinguish hosts in C and Python. This package is the only one below an author's code that uses cgo.
package library
