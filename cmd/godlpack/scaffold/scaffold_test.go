package scaffold

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	parent := t.TempDir()
	p := Project{Name: "fastops", Sources: "/somewhere/go", Go: "1.26.0"}
	if err := p.Write(parent); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		".gitignore", "README.md", "fastops/__init__.py", "fastops/py.typed", "go.mod", "ops.go", "pyproject.toml", "tests/test_fastops.py",
	} {
		text, err := os.ReadFile(filepath.Join(parent, "fastops", name))
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(string(text), "{{") || strings.Contains(string(text), "NAME") {
			t.Errorf("%s: a template is left:\n%s", name, text)
		}
		if formatted, err := format.Source(text); name == "ops.go" && (err != nil || string(formatted) != string(text)) {
			t.Errorf("ops.go is not formatted: %v", err)
		}
	}
	if err := p.Write(parent); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second time: got %v", err)
	}
}

func TestWriteWithoutSources(t *testing.T) {
	parent := t.TempDir()
	if err := (Project{Name: "fastops", Go: "1.26.0"}).Write(parent); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(parent, "fastops", "go.mod"))
	if err != nil || strings.Contains(string(text), "replace") {
		t.Errorf("got %v, %s", err, text)
	}
}
