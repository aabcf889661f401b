package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// The limits, in lines, for the length of half of all functions and of nine in ten, so that they are easy to read.
const (
	typical = 10
	most    = 40
)

func TestLengthsOfFunctions(t *testing.T) {
	var lengths []int
	for _, file := range goFiles(t) {
		if file.test() {
			continue
		}
		for _, fn := range file.functions() {
			lengths = append(lengths, length(file, fn))
		}
	}
	if len(lengths) == 0 {
		t.Skip("no functions yet")
	}
	slices.Sort(lengths)
	half, nine := lengths[len(lengths)/2], lengths[len(lengths)*9/10]
	t.Logf("%d functions: half within %d lines, nine in ten within %d, the longest %d", len(lengths), half, nine, lengths[len(lengths)-1])
	if half > typical || nine > most {
		t.Errorf("want half within %d and nine in ten within %d", typical, most)
	}
}

// length counts a function's lines that are not blank, including its head and its closing brace.
func length(file goFile, fn *ast.FuncDecl) int {
	from, to := file.fset.Position(fn.Pos()).Line, file.fset.Position(fn.End()).Line
	text := strings.Split(file.text(), "\n")
	return lines(strings.Join(text[from-1:to], "\n"))
}
