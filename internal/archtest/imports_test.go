package archtest

import (
	"slices"
	"strings"
	"testing"
)

// mayImport is the diagram of docs/architecture.md: package -> the godlpack packages below it, which it may import.
var mayImport = map[string][]string{
	"dlpack":               {},
	"tensor":               {"dlpack"},
	"packed":               {"dlpack"},
	"internal/gcstress":    {},
	"cuda":                 {"dlpack", "tensor"},
	"kernel":               {"dlpack", "tensor", "packed", "internal/gcstress"},
	"internal/logs":        {"kernel"},
	"library":              {"dlpack", "tensor", "packed", "kernel", "internal/logs"},
	"tvmffi":               {"dlpack", "packed", "kernel"},
	"internal/cpython":     {"dlpack", "internal/gcstress"},
	"internal/memory":      {"dlpack", "tensor", "internal/elementwise", "cuda", "internal/cpython"},
	"capsule":              {"dlpack", "tensor", "cuda", "internal/cpython", "internal/memory"},
	"exchange":             {"dlpack", "tensor", "cuda", "internal/cpython", "internal/memory", "capsule"},
	"pyext":                {"dlpack", "tensor", "packed", "kernel", "cuda", "internal/cpython", "internal/memory", "capsule", "exchange"},
	"pyext/core":           {"pyext"},
	"internal/elementwise": {"dlpack", "tensor", "packed", "kernel"},
	"internal/archtest":    {},
	"examples":             {"dlpack", "tensor", "packed", "kernel", "library", "cuda"}, // and the folders in it
}

// mayImportModule are the external modules that packages may import: every author inherits them, so there is only one, besides
// that which an example wraps.
var mayImportModule = map[string][]string{
	"cuda":   {"github.com/ebitengine/purego"},
	"tvmffi": {"github.com/ebitengine/purego"},
	"examples": {
		"github.com/ebitengine/purego", "github.com/google/go-jsonnet", "github.com/google/go-jsonnet/ast",
		"github.com/klauspost/compress/gzip", "github.com/klauspost/compress/zstd", "github.com/minio/minio-go/v7",
		"github.com/minio/minio-go/v7/pkg/credentials", "github.com/parquet-go/parquet-go", "github.com/parquet-go/parquet-go/format",
		"github.com/valyala/fastjson",
	},
}

// mayUseC are the packages that may import "C"; pyext/core has no C text, only flags for the linker.
var mayUseC = []string{"internal/cpython", "library", "pyext/core", "tvmffi"}

func TestImports(t *testing.T) {
	for _, file := range goFiles(t) {
		pkg := entry(file.dir())
		below, known := mayImport[pkg]
		if !known {
			t.Errorf("%s: package %s is not in the picture: give it its place in mayImport", file.path, file.dir())
			continue
		}
		if file.test() {
			continue // a test may import any package
		}
		for _, imported := range file.imports() {
			ours, isOurs := strings.CutPrefix(imported, "godlpack/")
			switch {
			case isOurs && !slices.Contains(below, ours):
				t.Errorf("%s imports %s, which does not lie below it", file.path, ours)
			case !isOurs && strings.Contains(imported, ".") && !slices.Contains(mayImportModule[pkg], imported):
				t.Errorf("%s imports %s: not one of the modules it may import", file.path, imported)
			case imported == "unsafe" && pkg == "examples":
				t.Errorf("%s imports unsafe: an example shows what needs none", file.path)
			}
		}
	}
}

func TestTableHasNoCycle(t *testing.T) {
	for pkg, below := range mayImport {
		for _, other := range below {
			if slices.Contains(mayImport[other], pkg) {
				t.Errorf("%s and %s lie below each other", pkg, other)
			}
		}
	}
}

func TestOnlyBordersUseC(t *testing.T) {
	for _, file := range goFiles(t) {
		if !file.cgo() {
			continue
		}
		if !slices.Contains(mayUseC, file.dir()) {
			t.Errorf(`%s imports "C": only %v may`, file.path, mayUseC)
		}
		if file.dir() == "pyext/core" && preamble(file) != "" {
			t.Errorf(`%s: import "C" has a preamble; in pyext/core it is bare`, file.path)
		}
	}
}

// entry returns a folder's key in mayImport; all examples share one.
func entry(dir string) string {
	if strings.HasPrefix(dir, "examples/") {
		return "examples"
	}
	return dir
}
