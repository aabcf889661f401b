package module

import (
	"encoding/json"
	"go/version"
	"path/filepath"
	"slices"
)

// requirements are what a go.mod asks for, as `go mod edit -json` prints it.
type requirements struct {
	Go      string
	Require []struct{ Path, Version string }
}

func readRequirements(file string) (requirements, error) {
	var r requirements
	text, err := run(filepath.Dir(file), "mod", "edit", "-json", file)
	if err == nil {
		err = json.Unmarshal([]byte(text), &r)
	}
	return r, err
}

// lack returns the edits of a go.mod after which it may require godlpack, whose own requirements these are: no module
// may ask for an older Go than one that it requires, and what godlpack's packages import must be listed too. A version
// that the author has chosen stays.
func (r requirements) lack(godlpack requirements) []string {
	edits := []string{"-require=godlpack@v0.0.0"}
	if version.Compare("go"+r.Go, "go"+godlpack.Go) < 0 {
		edits = append(edits, "-go="+godlpack.Go)
	}
	for _, module := range godlpack.Require {
		if !slices.ContainsFunc(r.Require, func(own struct{ Path, Version string }) bool { return own.Path == module.Path }) {
			edits = append(edits, "-require="+module.Path+"@"+module.Version)
		}
	}
	return edits
}
