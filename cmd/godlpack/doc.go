// Command godlpack is the tool for authors: it makes a Python package from Go functions over tensors.
//
//	godlpack new fastops      # a project: go.mod, ops.go, pyproject.toml, a test
//	godlpack generate         # write zz_godlpack.go, to read or to vet
//	godlpack build -o folder  # the shared library, its description and its type stubs
//	godlpack develop          # build, and install editable (python/godlpack/_command.py)
//	godlpack test             # build, and run the tests in Go and in Python
//
// Python's build backend (godlpack.build) and godlpack.load_inline run the same `build`. The tool is a module of its own,
// since it needs golang.org/x/tools and gopy, which authors must not inherit.
package main
