package archtest

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shared is what tests in Python share: a package, whose files have nouns as names.
const shared = "tests/helpers/"

// empty are names that do not describe what is inside.
var empty = []string{"util", "utils", "common", "helper", "helpers", "types", "misc"}

// machine matches the beginning of an absolute path on one machine.
var machine = regexp.MustCompile(`(^|[^A-Za-z0-9_.])/(work|farm|root|home)/`)

func TestNamesSayWhatIsInside(t *testing.T) {
	for _, name := range sources(t, ".go", ".c", ".h", ".s", ".py", ".pyi", ".md") {
		for part := range strings.SplitSeq(strings.TrimPrefix(name, shared), "/") {
			noun := strings.TrimSuffix(strings.TrimSuffix(part, path.Ext(part)), "_test")
			if slices.Contains(empty, strings.ToLower(strings.Trim(noun, "_"))) {
				t.Errorf("%s: %q says nothing: name the noun that is inside", name, part)
			}
		}
	}
}

func TestNoPathsOfAMachine(t *testing.T) {
	git := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = root
	list, err := git.Output()
	if err != nil {
		t.Skip("not a clone of the repository: ", err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || bytes.IndexByte(text, 0) >= 0 { // deleted, a folder, or not a text file
			continue
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if machine.Match(line) {
				t.Errorf("%s:%d: a path of one machine: %s", name, i+1, line)
			}
		}
	}
}
