package module

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// siblings are the other modules of a workspace (go.work), as edits of the one go.mod that -modfile can name: each is
// replaced by its folder.
type siblings struct {
	edits []string // of go.mod, as `go mod edit` takes them
	sums  []string // the go.sum of each
}

// siblings returns the siblings in the workspace that the go command would use; none if the module is not part of it.
func (m *Module) siblings(work string, theirs requirements) (siblings, error) {
	if work == "" || work == "off" {
		return siblings{}, nil
	}
	if _, err := os.Stat(work); err != nil {
		return siblings{}, fmt.Errorf("GOWORK=%s: no such workspace; set GOWORK=off to build without one", work)
	}
	text, err := run(filepath.Dir(work), "work", "edit", "-json", work)
	if err != nil {
		return siblings{}, fmt.Errorf("%w\nset GOWORK=off to build without the workspace %s", err, work)
	}
	var w struct {
		Use     []struct{ DiskPath string }
		Replace []replacement
	}
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return siblings{}, err
	}
	all := siblings{sums: []string{work + ".sum"}}
	member := false
	for _, use := range w.Use {
		folder := absolute(use.DiskPath, filepath.Dir(work))
		if member = member || sameFile(filepath.Join(folder, "go.mod"), m.file); sameFile(filepath.Join(folder, "go.mod"), m.file) {
			continue
		}
		if err := all.add(folder, theirs); err != nil {
			return siblings{}, err
		}
	}
	for _, r := range w.Replace {
		all.edits = append(all.edits, r.edit(filepath.Dir(work)))
	}
	if !member {
		return siblings{}, nil
	}
	return all, nil
}

// add adds the module in a folder.
func (all *siblings) add(folder string, theirs requirements) error {
	mod := filepath.Join(folder, "go.mod")
	r, err := readRequirements(mod)
	if err != nil || r.Module.Path == "godlpack" {
		return err
	}
	for _, own := range r.Replace {
		if own.Old.Path != "godlpack" && !slices.ContainsFunc(theirs.Replace, func(t replacement) bool { return t.Old == own.Old }) {
			all.edits = append(all.edits, own.edit(folder))
		}
	}
	all.edits = append(all.edits, "-replace="+r.Module.Path+"="+folder)
	if !theirs.requires(r.Module.Path) {
		all.edits = append(all.edits, "-require="+r.Module.Path+"@"+someVersion(r.Module.Path))
	}
	all.sums = append(all.sums, sum(mod))
	return nil
}

var major = regexp.MustCompile(`[/.]v([0-9]+)$`)

// someVersion returns a version that a module of that path may have.
func someVersion(path string) string {
	if number := major.FindStringSubmatch(path); number != nil {
		return "v" + number[1] + ".0.0"
	}
	return "v0.0.0"
}

func absolute(path, from string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(from, path)
}
