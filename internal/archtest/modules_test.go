package archtest

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

// nested are the modules inside this one, each with the packages that it may import beyond the standard library. They are
// the authors' tool, which is built once, the examples, and modules for development: neither authors nor users inherit their
// requirements. The other tests skip them, except the examples.
var nested = map[string][]string{
	"cmd/godlpack": {
		"github.com/go-python/gopy/bind", "golang.org/x/tools/go/packages",
		"godlpack/cmd/godlpack/glue", "godlpack/cmd/godlpack/module", "godlpack/cmd/godlpack/scaffold", "godlpack/cmd/godlpack/source",
		"godlpack/dlpack", "godlpack/kernel", "godlpack/tensor",
	},
	"examples/biasgelu":   {"godlpack/cuda", "godlpack/dlpack", "godlpack/kernel", "godlpack/tensor"},
	"examples/bpe":        {"godlpack/kernel", "godlpack/tensor"},
	"examples/imagebatch": {"github.com/ebitengine/purego", "godlpack/dlpack", "godlpack/kernel", "godlpack/tensor"},
	"examples/jsonnet":    {"github.com/google/go-jsonnet", "github.com/google/go-jsonnet/ast", "godlpack/kernel"},
	"examples/shards": {
		"github.com/johannesboyne/gofakes3", "github.com/johannesboyne/gofakes3/backend/s3mem", // its tests
		"github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zstd", "github.com/minio/minio-go/v7",
		"github.com/minio/minio-go/v7/pkg/credentials", "github.com/parquet-go/parquet-go", "github.com/parquet-go/parquet-go/format",
		"github.com/valyala/fastjson", "godlpack/dlpack", "godlpack/kernel", "godlpack/tensor",
	},
	"examples/textfeat":  {"godlpack/dlpack", "godlpack/kernel", "godlpack/tensor"},
	"examples/vecindex":  {"godlpack/kernel", "godlpack/tensor"},
	"internal/embedtest": {"github.com/go-python/cpy3", "godlpack/internal/cpython", "godlpack/pyext", "godlpack/tensor"},
	"tools":              {},
}

func TestNestedModules(t *testing.T) {
	for _, module := range nestedModules(t) {
		below, known := nested[module]
		if !known {
			t.Errorf("%s is a module of its own, and not in the picture: give it its place in nested", module)
			continue
		}
		for _, name := range goFilesIn(t, filepath.Join(root, module)) {
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

// goFilesIn lists the Go files in a folder and its subfolders, without test data.
func goFilesIn(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == "testdata":
			return fs.SkipDir
		case strings.HasSuffix(name, ".go"):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// nestedModules lists the folders with a go.mod, without the root, test data and hidden ones, and checks that none is missing.
func nestedModules(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(path.Base(name), ".") || path.Base(name) == "testdata"):
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
