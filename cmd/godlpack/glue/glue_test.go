package glue_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"godlpack/cmd/godlpack/glue"
	"godlpack/cmd/godlpack/module"
	"godlpack/cmd/godlpack/source"
)

var update = flag.Bool("update", false, "write what is generated into testdata, to be read and committed")

// load reads a package of the test data: "all" has a function for each feature, the others are about the imports of the
// glue.
func load(t *testing.T, name string) *source.Package {
	t.Helper()
	sources, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GODLPACK_SOURCES", sources)
	folder := filepath.Join("testdata", name)
	m, err := module.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	pkg, err := source.Load(m, folder)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// golden compares got with a file, or writes it to the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is generated now; see what changed by `go test -update ./glue` and git diff. Generated:\n%s", name, got)
	}
}

func TestGenerated(t *testing.T) {
	pkg := load(t, "all")
	text, err := glue.Go(pkg)
	if err != nil {
		t.Fatal(err)
	}
	sidecar, err := glue.Sidecar("all", pkg)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "all.go.golden", text)
	golden(t, "all.json.golden", sidecar)
	golden(t, "all.pyi.golden", glue.Stubs(pkg))
	again, err := glue.Go(load(t, "all"))
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("the same source gives another text: %v", err)
	}
}

// The glue imports only what it needs, under names that the author's package does not use.
func TestImports(t *testing.T) {
	for _, name := range []string{"names", "lanes"} {
		text, err := glue.Go(load(t, name))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".go.golden", text)
	}
}

// Methods, fields and functions of all names have names of their own in the glue.
func TestClasses(t *testing.T) {
	pkg := load(t, "classes")
	text, err := glue.Go(pkg)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "classes.go.golden", text)
	sidecar, err := glue.Sidecar("classes", pkg)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "classes.json.golden", sidecar)
	golden(t, "classes.pyi.golden", glue.Stubs(pkg))
}

func TestMainPackage(t *testing.T) {
	want := glue.Header + "\npackage main\n\nimport (\n\t_ \"example.org/all\"\n\t_ \"godlpack/library\"\n)\n\nfunc main() {}\n"
	if got := string(glue.Main("example.org/all")); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
