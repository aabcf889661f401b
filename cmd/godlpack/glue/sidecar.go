package glue

import (
	"bytes"
	"encoding/json"

	"godlpack/cmd/godlpack/source"
	"godlpack/kernel"
)

// described is a function's declaration with its Python texts, so that Python need not compute them.
type described struct {
	*kernel.Func
	Signature string   `json:"signature"`
	Docstring string   `json:"docstring"`
	Wants     []string `json:"wants"`
}

// class is a class's declaration, with the functions that return its objects.
type class struct {
	kernel.Class
	Makers []string `json:"makers,omitempty"`
}

// Sidecar returns the JSON file beside a library, which describes its functions, so that Python can list them before it
// opens the library.
func Sidecar(name string, pkg *source.Package) ([]byte, error) {
	classes := make([]class, len(pkg.Classes))
	for i, c := range pkg.Classes {
		classes[i] = class{c.Decl, c.Makers}
	}
	exceptions := make([]kernel.Exception, len(pkg.Errors))
	for i, e := range pkg.Errors {
		exceptions[i] = e.Decl
	}
	functions := make([]described, len(pkg.Funcs))
	for i, fn := range pkg.Funcs {
		functions[i] = described{fn.Decl, fn.Decl.Signature(), fn.Decl.Docstring(), fn.Decl.Wants()}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // for readers of the file
	encoder.SetIndent("", " ")
	err := encoder.Encode(struct {
		Version    int                `json:"version"`
		Name       string             `json:"name"`
		State      *kernel.State      `json:"state,omitempty"`
		Classes    []class            `json:"classes,omitempty"`
		Exceptions []kernel.Exception `json:"exceptions,omitempty"`
		Functions  []described        `json:"functions"`
	}{1, name, pkg.State, classes, exceptions, functions})
	return text.Bytes(), err
}
