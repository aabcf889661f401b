package source_test

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"godlpack/cmd/godlpack/module"
	"godlpack/cmd/godlpack/source"
	"godlpack/kernel"
)

var update = flag.Bool("update", false, "write the errors into testdata, to be read and committed")

// load reads the package in a folder, against the sources of this repository.
func load(t *testing.T, folder string) (*source.Package, error) {
	t.Helper()
	sources, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GODLPACK_SOURCES", sources)
	m, err := module.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return source.Load(m, folder)
}

// write makes a package of one file in a module of its own.
func write(t *testing.T, text string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.org/ops\n\ngo 1.25\n", "ops.go": text} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestProblems(t *testing.T) {
	for _, name := range []string{"errors", "hints", "classes"} {
		t.Run(name, func(t *testing.T) { testProblems(t, name) })
	}
}

func testProblems(t *testing.T, name string) {
	_, err := load(t, "testdata/"+name)
	var problems source.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("want Problems, got %v", err)
	}
	got := err.Error() + "\n"
	golden := "testdata/" + name + ".golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("see what changed by `go test -update ./source` and git diff; got:\n%s", got)
	}
}

func TestCompileErrors(t *testing.T) {
	_, err := load(t, write(t, "package ops\n\nfunc F() int { return \"text\" }\n\nvar unused = missing\n"))
	for _, want := range []string{"ops.go:3:23: ", "ops.go:5:14: undefined: missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// The error does not contain the compiler's list of all types.
func TestElementsThatAreNone(t *testing.T) {
	for given, want := range map[string]string{
		"bool":   "ops.go:6:20: bool is not an element type of tensors: use tensor.Bool8",
		"string": "ops.go:6:20: string is not an element type of tensors: use one that tensor.Element lists",
	} {
		_, err := load(t, write(t, "package ops\n\nimport \"godlpack/tensor\"\n\n//godlpack:export\nfunc F(x tensor.Of["+given+"]) {}\n"))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: want %s, got %v", given, want, err)
		}
	}
}

func TestMissingImports(t *testing.T) {
	for text, want := range map[string]string{
		"package ops\n\n//godlpack:export\nfunc F(x tensor.Of[int8]) {}\n": `ops.go:4:10: undefined: tensor: write import "godlpack/tensor"`,
		"package ops\n\nimport _ \"godlpack/tensors\"\n":                   "ops.go:3:8: there is no package godlpack/tensors; godlpack's packages are godlpack/tensor, ",
		"package ops\n\nimport _ \"example.org/missing\"\n":                "go get example.org/missing",
	} {
		if _, err := load(t, write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	_, err := load(t, write(t, "package ops\n\nfunc F( {\n"))
	if err == nil || !strings.Contains(err.Error(), "ops.go:3:") {
		t.Errorf("want an error in line 3, got %v", err)
	}
}

func TestPackageWithoutFunctions(t *testing.T) {
	_, err := load(t, write(t, "package ops\n"))
	if err == nil || !strings.Contains(err.Error(), "//godlpack:export") {
		t.Errorf("got %v", err)
	}
}

func TestFolderWithoutPackage(t *testing.T) {
	folder := write(t, "package ops\n")
	if err := os.Remove(filepath.Join(folder, "ops.go")); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, folder); err == nil || !strings.Contains(err.Error(), "no Go files") {
		t.Errorf("got %v", err)
	}
}

// Glue of functions that were removed does not compile, and is ignored.
func TestStaleGlueIsNotRead(t *testing.T) {
	folder := write(t, "package ops\n\n//godlpack:export\nfunc F() {}\n")
	glue := "package ops\n\nfunc init() { gone() }\n"
	if err := os.WriteFile(filepath.Join(folder, source.Generated), []byte(glue), 0o644); err != nil {
		t.Fatal(err)
	}
	pkg, err := load(t, folder)
	if err != nil || len(pkg.Funcs) != 1 || pkg.Funcs[0].Decl.Name != "f" {
		t.Errorf("got %v, %v", pkg, err)
	}
}

// In the test data, the variables that may change have names that begin with "s".
func TestState(t *testing.T) {
	pkg, err := load(t, "testdata/state")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"store.Open", "store.hits"}
	for _, name := range pkg.Types.Scope().Names() {
		if _, ok := pkg.Types.Scope().Lookup(name).(*types.Var); ok && name[0] == 's' && unicode.IsUpper(rune(name[1])) {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	got := pkg.State.Variables
	for _, name := range slices.Concat(want, got) {
		if slices.Contains(want, name) != slices.Contains(got, name) {
			t.Errorf("%s: found to change: %t", name, slices.Contains(got, name))
		}
	}
	if pkg.State.Fork != kernel.ForkWarns {
		t.Errorf("fork: got %q", pkg.State.Fork)
	}
}

// A device kernel that is compiled once, as in the guide, is not state.
func TestStateOfKernels(t *testing.T) {
	pkg, err := load(t, write(t, `package ops

import (
	"sync"

	"godlpack/cuda"
)

var device = sync.OnceValues(func() (*cuda.Device, error) { return cuda.Open(0) })

var halve = sync.OnceValues(func() (cuda.Function, error) {
	device, err := device()
	if err != nil {
		return cuda.Function{}, err
	}
	module, err := device.Compile("source", "halve.cu")
	if err != nil {
		return cuda.Function{}, err
	}
	return module.Function("halve")
})

//godlpack:export
func Halve() error {
	f, err := halve()
	if err != nil {
		return err
	}
	return f.Launch(cuda.Stream{}, cuda.Grid{})
}
`))
	if err != nil || pkg.State != nil {
		t.Errorf("got %+v, %v", pkg, err)
	}
}

func TestStateDirective(t *testing.T) {
	const text = "%s\npackage ops\n\nvar n int\n\n//godlpack:export\nfunc F() int { n++; return n }\n"
	for mark, want := range map[string]*kernel.State{
		"":                             {Fork: kernel.ForkWarns, Variables: []string{"n"}},
		"//godlpack:state fork=fresh":  nil,
		"//godlpack:state fork=refuse": {Fork: kernel.ForkFails, Variables: []string{"n"}},
	} {
		pkg, err := load(t, write(t, fmt.Sprintf(text, mark)))
		if err != nil || !reflect.DeepEqual(pkg.State, want) {
			t.Errorf("%s: got %v, %v", mark, pkg, err)
		}
	}
	_, err := load(t, write(t, fmt.Sprintf(text, "//godlpack:state fork=fresh\n//godlpack:state fork=fresh")))
	if err == nil || !strings.Contains(err.Error(), "at most once") {
		t.Errorf("said twice: got %v", err)
	}
}

// A function's framework is the one in its own directive, else its package's.
func TestLikeDirective(t *testing.T) {
	pkg, err := load(t, write(t, `//godlpack:result like=torch
package ops

import "godlpack/tensor"

//godlpack:export
func A() tensor.Of[int8] { panic("") }

//godlpack:export
//godlpack:result like=numpy
//godlpack:result shape=[2]
func B() tensor.Of[int8] { panic("") }

//godlpack:export
//godlpack:result 0 like=jax shape=[3]
func C() (tensor.Of[int8], int) { panic("") }

//godlpack:export
func D() int { panic("") }
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"torch", "numpy", "jax", ""} {
		if got := pkg.Funcs[i].Decl.Like; got != want {
			t.Errorf("%s: got %q, want %q", pkg.Funcs[i].Go, got, want)
		}
	}
	if shape := pkg.Funcs[2].Decl.Results[0].Shape; len(shape) != 1 || shape[0] != "3" {
		t.Errorf("shape: got %v", shape)
	}
}

// Exports that cannot be called are warnings, not errors.
func TestExportsElsewhere(t *testing.T) {
	folder := write(t, "package ops\n\nimport _ \"example.org/ops/below\"\n\n//godlpack:export\nfunc F() {}\n")
	for name, text := range map[string]string{
		"below/below.go":    "package below\n\n//godlpack:export\nfunc G() {}\n",
		"ops_windows.go":    "package ops\n\n//godlpack:export\nfunc H() {}\n",
		"elsewhere/more.go": "package elsewhere\n\n//godlpack:export\nfunc I() {}\n",
	} {
		name = filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	pkg, err := load(t, folder)
	if err != nil {
		t.Fatal(err)
	}
	got := pkg.Warnings.Error()
	for _, want := range []string{"below/below.go:3:1: warning: ", "ops_windows.go:3:1: warning: "} {
		if !strings.Contains(got, want) || len(pkg.Warnings) != 2 {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}
