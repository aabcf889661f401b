// Package module runs the go command for an author's module without changing it: the command uses a copy of go.mod, which
// replaces godlpack by the Go packages that this tool has, and an overlay with the files that are needed only for a build.
package module
