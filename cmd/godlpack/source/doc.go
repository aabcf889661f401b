// Package source reads an author's Go package: which functions are marked for export, their directives, and the meaning of
// their types in Python.
//
// The result for each function is a kernel.Func, the declaration by which calls from Python are checked, and a Go
// description of its arguments and results, from which package glue writes the call. A function that cannot be exported is a
// [Problem] at the author's own line, with what could be written instead; all problems are reported at once.
//
//	pkg, err := source.Load(m, folder) // m is the folder's module, from module.Open
//	if err != nil {
//		return err
//	}
//	for _, f := range pkg.Funcs {
//		fmt.Println(f.Decl.Name + f.Decl.Signature())
//	}
//
// go/packages finds and type-checks the files, go/types reads tensors, type parameters and constraints, and gopy's bind
// classifies plain values (see plain.go).
package source
