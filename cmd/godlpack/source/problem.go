package source

import (
	"cmp"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Problem is one error in the author's source.
type Problem struct {
	At   token.Position
	Text string // what is wrong, and what is possible instead
}

// String returns the problem in the Go compiler's format: "ops.go:12:5: text".
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", relative(p.At.Filename), p.At.Line, p.At.Column, p.Text)
}

// relative returns a file's name relative to the working folder if that is shorter.
func relative(name string) string {
	here, err := os.Getwd()
	if err != nil {
		return name
	}
	if short, err := filepath.Rel(here, name); err == nil && filepath.IsAbs(name) && len(short) < len(name) {
		return short
	}
	return name
}

// Problems is the error of a package that cannot be exported.
type Problems []Problem

// Error returns all problems, one line each, in the order of the source.
func (all Problems) Error() string {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.At.Filename, b.At.Filename), a.At.Line-b.At.Line, a.At.Column-b.At.Column)
	})
	lines := make([]string, len(sorted))
	for i, p := range sorted {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// A reporter collects problems.
type reporter struct {
	fset  *token.FileSet
	found Problems
}

func (r *reporter) add(at token.Pos, format string, a ...any) {
	r.found = append(r.found, Problem{r.fset.Position(at), fmt.Sprintf(format, a...)})
}
