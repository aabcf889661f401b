package arch

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nested are the modules inside of this one, each with what it may import beyond the standard library. They are for
// development: neither authors nor users inherit what they require. The other tests pass them over, since their C
// and their functions are no part of the product.
var nested = map[string][]string{
	"internal/hosted": {"github.com/go-python/cpy3", "godlpack/internal/cpython", "godlpack/pyext", "godlpack/tensor"},
	"tools":           {},
}

func TestNestedModules(t *testing.T) {
	for _, module := range nestedModules(t) {
		below, known := nested[module]
		if !known {
			t.Errorf("%s is a module of its own, and not in the picture: give it its place in nested", module)
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, module, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, imported := range (goFile{syntax: syntax}).imports() {
				beyond := strings.Contains(imported, ".") || strings.HasPrefix(imported, "godlpack/")
				if beyond && !slices.Contains(below, imported) {
					t.Errorf("%s imports %s, which is not one of the packages it may import", name, imported)
				}
			}
		}
	}
}

// nestedModules lists the folders with a go.mod, but for the root and hidden ones, and makes sure that none is missing.
func nestedModules(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(path.Base(name), "."):
			return fs.SkipDir
		case path.Base(name) == "go.mod" && name != "go.mod":
			found[path.Dir(name)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for module := range nested {
		if !found[module] {
			t.Errorf("%s has no go.mod", module)
		}
	}
	return slices.Sorted(maps.Keys(found))
}
