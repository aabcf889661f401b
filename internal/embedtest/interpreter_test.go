package embedtest

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	executable := os.Getenv("EMBEDDED_PYTHON")
	if executable == "" {
		fmt.Fprintln(os.Stderr, "EMBEDDED_PYTHON does not name a Python: run these tests by tools/embedtest.py")
		os.Exit(2)
	}
	if err := Start(executable); err != nil {
		panic(err)
	}
	os.Exit(m.Run()) // Python is not finalized: its daemon threads may still run Go code
}

// run fails the test if Python code raises an exception.
func run(t *testing.T, code string) {
	t.Helper()
	if err := Run(code); err != nil {
		t.Fatal(err)
	}
}

// TestLinked checks that the other tests use the module that is linked in.
func TestLinked(t *testing.T) {
	run(t, `
import godlpack, godlpack._core
assert godlpack._core.__spec__.origin == "built-in", godlpack._core.__spec__
`)
}
