package jsonnet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func ExampleVM_Evaluate() {
	vm, err := NewVM(nil, 500)
	if err != nil {
		panic(err)
	}
	_ = vm.SetText("name", "world")
	text, err := vm.Evaluate(nil, `"hello, " + std.extVar("name")`, "example.jsonnet")
	fmt.Println(text, err)
	// Output:
	// "hello, world"
	//  <nil>
}

func TestErrorsHaveTheirPlace(t *testing.T) {
	vm, _ := NewVM(nil, 500)
	for program, want := range map[string]string{
		"{a: 1 +}":                        "p:1:8-9 Unexpected: (OPERATOR, \"}\")",
		"local f(x) = error 'no'; [f(1)]": "no\n\tp:1:14-24 function <f>\n\tp:1:27-31 ",
		"x":                               "p:1:1-2 Unknown variable: x",
	} {
		_, err := vm.Evaluate(nil, program, "p")
		var failed *ProgramError
		if !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), strings.Split(want, " (")[0]) {
			t.Errorf("%s: got %v, want %s", program, err, want)
		}
	}
}

func TestImports(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a.libsonnet": "{x: 1}", "deep.jsonnet": strings.Repeat("[", mostNested+1)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vm, _ := NewVM([]string{folder}, 500)
	if text, err := vm.Evaluate(nil, "(import 'a.libsonnet').x", "p"); text != "1\n" || err != nil {
		t.Error(text, err)
	}
	if _, err := vm.Evaluate(nil, "import 'deep.jsonnet'", "p"); err == nil || !strings.Contains(err.Error(), "nested brackets") {
		t.Error(err)
	}
}

// TestNothingThatIsAllowedEndsTheProcess evaluates what is nested as deep as check allows.
func TestNothingThatIsAllowedEndsTheProcess(t *testing.T) {
	vm, _ := NewVM(nil, mostStack)
	for _, program := range []string{
		strings.Repeat("[", mostNested) + strings.Repeat("]", mostNested),
		strings.Repeat("-", 5000) + "1",
		strings.Repeat("1+", mostMarks-1) + "1",
		strings.Repeat("{}", mostMarks-1),
		strings.Repeat("a.", 100_000) + "a",
		strings.Repeat("local a=1;", 5000) + "a",
		strings.Repeat("[", mostNested+1),
		strings.Repeat("+", mostMarks+1),
		strings.Repeat(" ", mostBytes+1),
	} {
		if len(program) == 0 {
			t.Error("nothing to test")
		}
		_, _ = vm.Evaluate(nil, program, "p") // an error, or a value
	}
}
