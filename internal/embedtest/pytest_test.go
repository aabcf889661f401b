package embedtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the files of tests that check the sources, the documentation, the wheel, or the installed module in processes
// of its own, not the module that is linked in here.
var elsewhere = []string{
	"abi", "bench", "charts", "cuda", "docs", "examples", "fork", "gpu", "guide", "inline", "interrupt_twice", "launch", "layouts", "limits", "mutation", "no_memory",
	"num_threads", "packaging", "prose", "readme", "runtime", "signals", "state", "stubs", "testing", "tool", "workers",
	"greenlets", "leaks", // greenlets cannot switch a Go stack; and this program's own threads allocate
}

// pytest runs one file of tests. Only Python's own output is captured, so that the race detector's reports appear. Without
// faulthandler, since it would replace Go's signal handlers.
const pytest = `
import pytest
status = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=sys", "--rootdir=../..", "-c../../pyproject.toml", %q])
assert status == 0, status
`

// TestPytest runs the repository's pytest suite in this process, each file as a test.
func TestPytest(t *testing.T) {
	files, err := filepath.Glob("../../tests/test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatal("found no tests: ", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "test_"), ".py")
		if slices.Contains(elsewhere, name) {
			continue
		}
		t.Run(name, func(t *testing.T) { run(t, fmt.Sprintf(pytest, file)) })
	}
}
