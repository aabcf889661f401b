// Package module runs the go command for an author's module without changing it: the command uses a copy of go.mod, which
// replaces godlpack by the Go packages that this tool has, and an overlay with the files that are needed only for a build.
//
//	m, err := module.Open(folder) // any folder of the author's module
//	if err != nil {
//		return err
//	}
//	defer m.Close()
//	library, err := m.Build(module.Library{Folder: folder, Main: main, Files: files}) // the path of the shared library
package module
