// Package scaffold writes the files of a new project: a Go package with two functions, and the Python package that it
// becomes.
package scaffold
