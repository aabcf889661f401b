// Package scaffold writes the files of a new project: a Go package with two functions, and its Python package.
//
//	project := scaffold.Project{Name: "fastops", Sources: module.Sources(), Go: oldestGo()}
//	err := project.Write(".") // makes the folder fastops
package scaffold
