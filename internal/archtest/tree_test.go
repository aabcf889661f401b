package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the repository, relative to this package's folder, where go test runs.
const root = "../.."

// goFile is one parsed Go file of the root module or of an example.
type goFile struct {
	path   string // relative to the root, with slashes
	syntax *ast.File
	fset   *token.FileSet
}

func (f goFile) dir() string  { return path.Dir(f.path) }
func (f goFile) test() bool   { return strings.HasSuffix(f.path, "_test.go") }
func (f goFile) cgo() bool    { return slices.Contains(f.imports(), "C") }
func (f goFile) text() string { return read(f.path) }

func (f goFile) line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

func (f goFile) imports() []string {
	var paths []string
	for _, spec := range f.syntax.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}

func (f goFile) functions() []*ast.FuncDecl {
	var found []*ast.FuncDecl
	for _, decl := range f.syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			found = append(found, fn)
		}
	}
	return found
}

// goFiles parses every Go file of the root module and of the examples.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	for _, name := range sources(t, ".go") {
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, goFile{name, syntax, fset})
	}
	return files
}

// sources lists the files of the root module and of the examples with one of these extensions, without hidden folders,
// other nested modules (the tools, which may import anything) and test data.
func sources(t *testing.T, extensions ...string) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && outside(name):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, path.Ext(name)):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func outside(dir string) bool {
	base := path.Base(dir)
	_, err := os.Stat(filepath.Join(root, dir, "go.mod"))
	nested := err == nil && path.Dir(dir) != "examples" // each example is a module, like an author's project
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || nested
}

func read(name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		panic(err) // the file was listed just before
	}
	return string(text)
}
