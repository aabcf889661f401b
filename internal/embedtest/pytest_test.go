package embedtest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// elsewhere are the files of tests that ask the sources, the documentation or the wheel, or how the installed module fares
// in processes of its own: not what is linked in here.
var elsewhere = []string{
	"abi", "bench", "cuda", "docs", "examples", "fork", "gpu", "guide", "inline", "interrupt_twice", "launch", "layouts", "limits", "mutation", "no_memory",
	"num_threads", "packaging", "readme", "runtime", "signals", "state", "stubs", "testing", "tool", "workers",
	"greenlets", "leaks", // a stack that is Go's cannot be switched; and this program's own threads allocate
}

// pytest runs one file of tests. Output is captured in Python only, so that the race detector's reports get through.
// The fault handler would take Go's signals.
const pytest = `
import pytest
status = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--capture=sys", "--rootdir=../..", "-c../../pyproject.toml", %q])
assert status == 0, status
`

// TestPytest runs the repository's own tests in this process, each file a test.
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
