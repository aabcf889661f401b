package module

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// vendored turns the modules of the author's vendor folder, if there is one and GOFLAGS allows it, into replacements. The go
// command would take all modules from that folder or none, and godlpack's requirements are not in it.
func (m *Module) vendored(ours requirements) error {
	folder := filepath.Join(filepath.Dir(m.file), "vendor")
	text, err := os.ReadFile(filepath.Join(folder, "modules.txt"))
	if mod := chosenMod(); errors.Is(err, os.ErrNotExist) || mod != "" && mod != "vendor" {
		return nil
	}
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit"}
	listed := map[string]bool{"godlpack": true}
	for _, v := range list(string(text)) {
		if listed[v.path] {
			continue
		}
		listed[v.path] = true
		edit = append(edit, "-dropreplace="+v.path, "-dropreplace="+v.path+"@"+v.version)
		if err := m.stand(v, filepath.Join(folder, filepath.FromSlash(v.path)), &edit); err != nil {
			return err
		}
	}
	for _, module := range ours.Require { // a module that none of the author's packages needs may be missing
		if !listed[module.Path] {
			if err := m.stand(listing{path: module.Path}, filepath.Join(m.Scratch, "missing", module.Path), &edit); err != nil {
				return err
			}
		}
	}
	if _, err := run(m.Scratch, append(edit, m.mod())...); err != nil {
		return err
	}
	overlay, err := m.writeOverlay("vendor.json", m.Overlay)
	m.Flags = append(m.Flags, "-mod=readonly", "-overlay="+overlay)
	return err
}

// A listing is a module in vendor/modules.txt, with its Go version.
type listing struct{ path, version, golang string }

// list parses modules.txt: "# path version", below it "## explicit; go 1.20", and the packages; at its end replacements.
func list(text string) []listing {
	var all []listing
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 2 && fields[0] == "#" && fields[2] != "=>":
			all = append(all, listing{path: fields[1], version: fields[2]})
		case len(fields) > 2 && fields[0] == "##" && fields[len(fields)-2] == "go" && all != nil:
			all[len(all)-1].golang = fields[len(fields)-1]
		}
	}
	return all
}

// stand replaces a module by a folder, with a go.mod in the overlay.
func (m *Module) stand(v listing, folder string, edit *[]string) error {
	file, err := os.CreateTemp(m.Scratch, "vendored-*.mod")
	if err != nil {
		return err
	}
	m.Overlay[filepath.Join(folder, "go.mod")] = file.Name()
	*edit = append(*edit, "-replace="+v.path+"="+folder)
	text := "module " + v.path + "\n"
	if v.golang != "" {
		text += "\ngo " + v.golang + "\n"
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
