// Command godlpack is the tool of authors: it makes a Python package of Go functions over tensors.
//
//	godlpack new fastops      # a project: go.mod, ops.go, pyproject.toml, a test
//	godlpack generate         # write zz_godlpack.go, to look at or to vet
//	godlpack build -o folder  # the shared library, its description and its type stubs
//
// Python's build backend (godlpack.build) and godlpack.load_inline run the same `build`. The tool is a module of its own,
// since it needs golang.org/x/tools and gopy, which no author shall inherit.
package main
