// Package glue writes the code between an author's functions and their callers: the Go file that registers them and makes
// the typed calls, the main package of the library, the sidecar that describes it to Python, and the type stubs.
//
// The generated code is plain, readable Go. A call uses no reflection: each argument is read by the accessor of its type,
// and the instance of a generic function is chosen by a switch on the dtype of an argument.
//
//	text, err := glue.Go(pkg)  // zz_godlpack.go
//	main := glue.Main(pkg.Path)
package glue
