package glue

import (
	"bytes"
	"encoding/json"

	"godlpack/cmd/godlpack/source"
	"godlpack/kernel"
)

// described is a function's declaration with what Python says of it, so that Python need not work it out.
type described struct {
	*kernel.Func
	Signature string   `json:"signature"`
	Docstring string   `json:"docstring"`
	Wants     []string `json:"wants"`
}

// Sidecar returns the JSON file that lies beside a library: its functions, so that Python can offer them before it opens
// the library.
func Sidecar(name string, pkg *source.Package) ([]byte, error) {
	functions := make([]described, len(pkg.Funcs))
	for i, fn := range pkg.Funcs {
		functions[i] = described{fn.Decl, fn.Decl.Signature(), fn.Decl.Docstring(), fn.Decl.Wants()}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // for people who look into it
	encoder.SetIndent("", " ")
	err := encoder.Encode(struct {
		Version   int           `json:"version"`
		Name      string        `json:"name"`
		State     *kernel.State `json:"state,omitempty"`
		Functions []described   `json:"functions"`
	}{1, name, pkg.State, functions})
	return text.Bytes(), err
}
