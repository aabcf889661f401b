// Package scaffold writes the files of a new project: a Go package with two functions, and its Python package.
package scaffold
