package module

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the module that contains a folder, ready to build.
type Module struct {
	Flags   []string          // for go build, go list and go vet
	Overlay map[string]string // files that replace others for the go command: path in the module -> real path
	Scratch string            // a temporary folder, until Close

	file string // the author's go.mod
}

// Open prepares the module of a folder.
func Open(folder string) (*Module, error) {
	file, work, err := find(folder)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "godlpack-")
	if err != nil {
		return nil, err
	}
	m := &Module{Scratch: scratch, Overlay: map[string]string{}, file: file}
	if err := m.copy(folder, work); err != nil {
		m.Close()
		return nil, m.explained(err)
	}
	return m, nil
}

// Root returns the folder of the module that contains a folder, with links resolved.
func Root(folder string) (string, error) {
	file, _, err := find(folder)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(filepath.Dir(file))
}

// find returns the paths of a folder's go.mod and of its go.work, which is "" if there is none.
func find(folder string) (file, work string, err error) {
	if err := isFolder(folder); err != nil {
		return "", "", err
	}
	out, err := runIn(folder, environment(), "env", "GOMOD", "GOWORK")
	if err != nil {
		return "", "", err
	}
	file, work, _ = strings.Cut(strings.TrimRight(out, "\n"), "\n")
	if file == os.DevNull || file == "" {
		return "", "", fmt.Errorf("%s is not in a Go module: run `godlpack new NAME` to make a project, or `go mod init NAME` to make only a go.mod", folder)
	}
	return file, work, nil
}

// Close removes the scratch folder.
func (m *Module) Close() { os.RemoveAll(m.Scratch) }

func (m *Module) mod() string { return filepath.Join(m.Scratch, "go.mod") }

// copy makes a go.mod that requires godlpack from its sources. Without sources, the author's own go.mod must provide it.
func (m *Module) copy(folder, work string) error {
	sources := Sources()
	if sources == "" || sameFile(m.file, filepath.Join(sources, "go.mod")) {
		return nil
	}
	theirs, err := readRequirements(m.file)
	if err != nil {
		return err
	}
	ours, err := readRequirements(filepath.Join(sources, "go.mod"))
	if err != nil {
		return err
	}
	siblings, err := m.siblings(work, theirs)
	if err != nil {
		return err
	}
	sums := append([]string{sum(m.file), sum(filepath.Join(sources, "go.mod"))}, siblings.sums...)
	if err := errors.Join(join(m.mod(), m.file), join(sum(m.mod()), sums...)); err != nil {
		return err
	}
	m.Flags = []string{"-modfile=" + m.mod()}
	edit := append([]string{"mod", "edit"}, siblings.edits...)
	edit = append(edit, "-dropreplace=godlpack", "-replace=godlpack="+sources)
	if _, err := run(m.Scratch, append(append(edit, theirs.lack(ours)...), m.mod())...); err != nil {
		return err
	}
	if siblings.edits != nil || strings.HasPrefix(theirs.Module.Path, inline) {
		return m.resolveAll(folder, theirs, ours)
	}
	return m.vendored(ours)
}

func sum(mod string) string { return strings.TrimSuffix(mod, ".mod") + ".sum" }

// join concatenates files, some of which may not exist, into one.
func join(to string, from ...string) error {
	var all []byte
	for _, name := range from {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		all = append(all, text...)
	}
	return os.WriteFile(to, all, 0o644)
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Sources returns the folder of godlpack's own Go packages: GODLPACK_SOURCES, else the one beside the folder of this
// program, as in the wheel; "" if there is none.
func Sources() string {
	if folder := os.Getenv("GODLPACK_SOURCES"); folder != "" {
		return folder
	}
	program, err := os.Executable()
	if err != nil {
		return ""
	}
	folder := filepath.Join(filepath.Dir(filepath.Dir(program)), "go")
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err != nil {
		return ""
	}
	return folder
}

// List returns the go command's error about the module of a folder, nil if there is none.
func (m *Module) List(folder string) error {
	_, err := run(folder, append(append([]string{"list", "-deps"}, m.Flags...), ".")...)
	return m.explained(err)
}

// Standard reports whether Go itself has a package of that name.
func Standard(name string) bool {
	_, err := run(".", "list", name)
	return err == nil
}

// FindGo puts the go command of the variable GO first on PATH, where go/packages searches it, too.
func FindGo() error {
	name := os.Getenv("GO")
	if name == "" {
		return nil
	}
	out, err := exec.Command(name, "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("GO=%s: %w", name, err)
	}
	bin := filepath.Join(strings.TrimSpace(string(out)), "bin")
	return os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}
