package archtest

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	mostC      = 4680 // lines of C that are neither blank nor a comment or a text alone
	goForEachC = 4    // Go lines, including tests, for each of them
)

// mayHoldC are the folders of the product that may contain C; tests and benchmarks may contain C anywhere.
var mayHoldC = []string{"internal/cpython", "library", "tvmffi"}

// declares are the headers without code, which the budget does not count: those that declare an ABI, of Python, of DLPack or
// for other libraries, and the docstrings.
var declares = []string{
	"internal/cpython/docstrings.h", "internal/cpython/pyabi.h", "internal/cpython/records.h", "internal/cpython/packed.h", "internal/cpython/arrow.h",
	"library/godlpack.h",
}

func TestBudgetOfC(t *testing.T) {
	var c, golang int
	for _, name := range sources(t, ".c", ".h") {
		if strings.HasPrefix(name, "tests/") || strings.HasPrefix(name, "bench/") {
			continue
		}
		if !slices.Contains(mayHoldC, path.Dir(name)) {
			t.Errorf("%s: C belongs into %v", name, mayHoldC)
		}
		if !slices.Contains(declares, name) {
			c += codeLines(stripC(read(name)))
		}
	}
	for _, file := range goFiles(t) {
		c += codeLines(preamble(file))
		golang += goLines(file.text())
	}
	t.Logf("C: %d lines of at most %d; Go: %d lines, %.1f for each of C", c, mostC, golang, float64(golang)/float64(max(c, 1)))
	if c > mostC {
		t.Errorf("%d lines of C, more than %d: say it in Go, or take the budget's increase to docs/rationale.md", c, mostC)
	}
	if golang < goForEachC*c {
		t.Errorf("%d lines of Go to %d of C: fewer than %d for each", golang, c, goForEachC)
	}
}

// preamble returns the C text that a file gives to cgo, without comments, includes and #cgo lines.
func preamble(file goFile) string {
	var text []string
	for _, decl := range file.syntax.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.IMPORT || gen.Doc == nil || !importsC(gen) {
			continue
		}
		for line := range strings.Lines(stripC(gen.Doc.Text())) {
			if !strings.HasPrefix(line, "#cgo") && !strings.HasPrefix(line, "#include") {
				text = append(text, line)
			}
		}
	}
	return strings.TrimSpace(strings.Join(text, ""))
}

func importsC(gen *ast.GenDecl) bool {
	return slices.ContainsFunc(gen.Specs, func(spec ast.Spec) bool {
		return spec.(*ast.ImportSpec).Path.Value == `"C"`
	})
}

// lines counts the lines that are not blank.
func lines(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// textLine matches a line of C with only a string literal and what joins it to the next line: docstrings are prose.
var textLine = regexp.MustCompile(`^\s*"(?:\\.|[^"\\])*"[\s\\,;)]*$`)

// codeLines counts the lines of C, without comments, that contain more than a string literal.
func codeLines(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && !textLine.MatchString(line) {
			n++
		}
	}
	return n
}

func TestCodeLines(t *testing.T) {
	const text = `M(module, empty, "empty", \
  "empty(shape)\n" \
  "A \"new\" tensor.")

f("a", b,
  "c", d);
`
	if n := codeLines(text); n != 3 {
		t.Errorf("got %d lines of code, want 3: the first, and the last two", n)
	}
}

// goLines counts the lines on which a token of Go begins.
func goLines(text string) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, 0)
	n, last := 0, 0
	for pos, tok, lit := s.Scan(); tok != token.EOF; pos, tok, lit = s.Scan() {
		if line := file.Line(pos); line != last && lit != "\n" {
			n, last = n+1, line
		}
	}
	return n
}
