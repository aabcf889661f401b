// Package module runs the go command for an author's module without touching it: the go.mod in use is a copy that
// finds godlpack's own Go packages where this tool has them, and files that the author does not have are laid over the
// folder for the length of a build.
package module
