// Package embedtest links godlpack into a Go program that hosts Python, so that Go's race detector and coverage include the
// code that Python, NumPy and PyTorch call. The tests are Go tests, and the part of the repository's pytest suite that tests
// the module itself.
//
// Python imports the package godlpack from its installation, as always, but not its extension module: godlpack._core is in
// the table of built-in modules, which Python searches first, and is linked into the test binary. The installed file is for
// the processes that tests start.
//
// The package is a module of its own, since it needs Python's headers and library, and github.com/go-python/cpy3. That was
// written for Python 3.7; cpy3.h replaces what Python has removed since. tools/embedtest.py finds all of it and runs go here:
//
//	python tools/embedtest.py test -race ./...
package embedtest
