package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	mostLinesC   = 400 // of a file
	mostLinesH   = 150 // of a header
	mostFieldsOf = 12  // of a struct
)

// large are the structs with more fields, each with the reason.
var large = map[string]string{
	"gd_library":  "a file, what is opened of it, and what a forked child knows of both",
	"gd_function": "what a Python function has, as its attributes show it",
}

// TestSizesOfC checks the sizes of C files, headers and structs, except those in declares.
func TestSizesOfC(t *testing.T) {
	for _, name := range sources(t, ".c", ".h") {
		if !slices.Contains(mayHoldC, path.Dir(name)) || slices.Contains(declares, name) {
			continue
		}
		text, most := read(name), mostLinesC
		if path.Ext(name) == ".h" {
			most = mostLinesH
		}
		if n := strings.Count(text, "\n"); n > most {
			t.Errorf("%s: %d lines, more than %d: divide it by subject", name, n, most)
		}
		for of, n := range fieldsOf(stripC(text)) {
			if n > mostFieldsOf && large[of] == "" {
				t.Errorf("%s: struct %s has %d fields, more than %d: group them, or give the reason in large", name, of, n, mostFieldsOf)
			}
		}
	}
}

// structText matches the beginning of a struct, up to its brace.
var structText = regexp.MustCompile(`(?s)\bstruct\s*\w*\s*\{`)

// fieldsOf counts the fields of each struct in C text by its name; a nested struct counts as one field, and separately.
func fieldsOf(text string) map[string]int {
	found := map[string]int{}
	for _, at := range structText.FindAllStringIndex(text, -1) {
		depth, fields, i := 1, 0, at[1]
		for ; i < len(text) && depth > 0; i++ {
			switch text[i] {
			case '{':
				depth++
			case '}':
				depth--
			case ';':
				if depth == 1 {
					fields++
				}
			}
		}
		name := strings.TrimSpace(text[i:max(i, i+strings.IndexAny(text[i:]+";", ";[="))])
		found[name] = max(found[name], fields)
	}
	return found
}

func TestFieldsOf(t *testing.T) {
	const text = `typedef struct { int a, b; struct { int c; int d; } in; } pair; static struct one { int x; } only[2];`
	want := map[string]int{"pair": 2, "in": 2, "only": 1}
	for name, n := range fieldsOf(text) {
		if want[name] != n {
			t.Errorf("struct %q: got %d fields, want %d", name, n, want[name])
		}
	}
}
