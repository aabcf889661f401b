package module

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
)

// exports is the linker's version script: it exports the only symbol that the host needs.
const exports = "{ global: godlpack_library; local: *; };\n"

// A Library is the input from which Build makes a shared library.
type Library struct {
	Folder string            // of the author's package
	Main   []byte            // the main package's file
	Files  map[string][]byte // in the overlay of the folder, by name
}

// mainFolder is the overlay's folder for the main package: it must be in the module to import the author's package.
const mainFolder = "_godlpack"

// Build links the library and returns its path in the scratch folder. The library contains nothing of this machine, no
// paths, no time and no build id, so that equal sources give equal bytes.
func (m *Module) Build(l Library) (string, error) {
	overlay, err := m.overlay(l)
	if err != nil {
		return "", err
	}
	script := filepath.Join(m.Scratch, "exports.map")
	if err := os.WriteFile(script, []byte(exports), 0o644); err != nil {
		return "", err
	}
	library := filepath.Join(m.Scratch, "library.so")
	arguments := append([]string{"build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false"}, m.Flags...)
	arguments = append(arguments, "-overlay="+overlay, "-ldflags=-s -w -buildid= '-extldflags=-Wl,--version-script="+script+"'",
		"-o", library, "./"+mainFolder)
	_, err = run(l.Folder, arguments...)
	return library, m.explained(err)
}

// overlay writes the files that are not in the author's folder, and the JSON file that maps them into it.
func (m *Module) overlay(l Library) (string, error) {
	replace := maps.Clone(m.Overlay)
	files := map[string][]byte{filepath.Join(mainFolder, "main.go"): l.Main}
	for name, text := range l.Files {
		files[name] = text
	}
	for name, text := range files {
		real := filepath.Join(m.Scratch, filepath.Base(name))
		if err := os.WriteFile(real, text, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(l.Folder, name)] = real
	}
	return m.writeOverlay("overlay.json", replace)
}

func (m *Module) writeOverlay(name string, replace map[string]string) (string, error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(m.Scratch, name)
	return overlay, os.WriteFile(overlay, text, 0o644)
}
