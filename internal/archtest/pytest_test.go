package archtest

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// importsTest matches an import of a module of tests, also within a script that a test starts.
var importsTest = regexp.MustCompile(`(?m)^\s*(from|import) +(test_\w+|conftest)\b`)

// TestTestsInPythonAreApart checks that no module of tests imports another one, so that each runs alone, and that what
// they share is in a folder of its own.
func TestTestsInPythonAreApart(t *testing.T) {
	for _, name := range sources(t, ".py", ".c", ".h", ".inc") {
		if !strings.HasPrefix(name, "tests/") {
			continue
		}
		if found := importsTest.FindString(read(name)); found != "" {
			t.Errorf("%s: %s: move what both need to tests/helpers or tests/conftest.py", name, strings.TrimSpace(found))
		}
		test := strings.HasPrefix(name, "tests/test_") || name == "tests/conftest.py"
		if path.Dir(name) == "tests" && !test {
			t.Errorf("%s is no test: move it to tests/helpers, tests/programs or tests/testdata", name)
		}
	}
}
