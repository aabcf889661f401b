// Package glue writes what stands between an author's functions and their callers: the Go file that registers them and
// makes the typed calls, the main package of the library, the sidecar that describes it to Python, and the type stubs.
//
// What is written is plain Go that a person can read. On the call path there is no reflection: each argument is read by
// the accessor of its type, and a generic function is chosen by a switch on the dtype of an argument.
//
//	text, err := glue.Go(pkg)  // zz_godlpack.go
//	main := glue.Main(pkg.Path)
package glue
