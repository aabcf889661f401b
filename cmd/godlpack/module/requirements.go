package module

import (
	"encoding/json"
	"go/version"
	"path/filepath"
	"slices"
	"strings"
)

// requirements is the content of a go.mod, as `go mod edit -json` prints it.
type requirements struct {
	Module  struct{ Path string }
	Go      string
	Require []struct{ Path, Version string }
	Replace []replacement
}

type replacement struct {
	Old, New struct{ Path, Version string }
}

// edit returns the replacement as a flag of `go mod edit`; a relative folder is relative to from.
func (r replacement) edit(from string) string {
	old, by := r.Old.Path, r.New.Path
	if r.Old.Version != "" {
		old += "@" + r.Old.Version
	}
	switch {
	case r.New.Version != "":
		by += "@" + r.New.Version
	case strings.HasPrefix(by, "."):
		by = absolute(by, from)
	}
	return "-replace=" + old + "=" + by
}

func readRequirements(file string) (requirements, error) {
	var r requirements
	text, err := run(filepath.Dir(file), "mod", "edit", "-json", file)
	if err == nil {
		err = json.Unmarshal([]byte(text), &r)
	}
	return r, err
}

func (r requirements) requires(path string) bool {
	return slices.ContainsFunc(r.Require, func(own struct{ Path, Version string }) bool { return own.Path == path })
}

// lack returns the edits of a go.mod that are needed to require godlpack, whose requirements are given: a module's Go version
// must not be older than that of a module it requires, and godlpack's own requirements must be listed, too. A version
// that the author has chosen stays.
func (r requirements) lack(godlpack requirements) []string {
	edits := []string{"-require=godlpack@v0.0.0"}
	if version.Compare("go"+r.Go, "go"+godlpack.Go) < 0 {
		edits = append(edits, "-go="+godlpack.Go)
	}
	for _, module := range godlpack.Require {
		if !r.requires(module.Path) {
			edits = append(edits, "-require="+module.Path+"@"+module.Version)
		}
	}
	return edits
}
