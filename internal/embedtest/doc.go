// Package embedtest turns the extension inside out: its tests link godlpack into a Go program that hosts Python, so that
// Go's race detector and coverage see the code that Python, NumPy and PyTorch drive. The tests are Go's own, and
// all of the repository's pytest suite that asks the module questions.
//
// Python finds the package godlpack where it is installed, as always, but not the extension module in it: godlpack._core
// stands in the table of built-in modules, where Python looks first, and that one is linked into the test binary. The
// installed file serves the processes that tests start.
//
// It is a module of its own, since it needs Python's headers and library, and github.com/go-python/cpy3. That was written
// for Python 3.7; cpy3.h stands in for what has gone since. tools/embedtest.py finds all of it and runs go here:
//
//	python tools/embedtest.py test -race ./...
package embedtest
