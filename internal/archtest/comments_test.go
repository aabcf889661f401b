package archtest

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// borders are the packages whose functions say who holds the GIL, who owns what and which threads may call.
var borders = []string{"internal/cpython", "library", "pyext/core", "tvmffi"}

// borderLines end the comment of a function at a border, in this order; each may run over several lines.
var borderLines = []string{"GIL:", "Owns:", "Threads:"}

// because names one of the four reasons for C: (a) only a macro or a struct offers it, (b) it must be a C function
// pointer, (c) it repeats a plan and must not pay a crossing, (d) it loops over arguments so that Go is entered once.
var because = regexp.MustCompile(`(?m)^C because: \([abcd]\)`)

func TestPackagesHaveDoc(t *testing.T) {
	documented := map[string]bool{}
	for _, file := range goFiles(t) {
		isDoc := path.Base(file.path) == "doc.go" && file.syntax.Doc.Text() != ""
		documented[file.dir()] = documented[file.dir()] || isDoc
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no doc.go with a package comment", dir)
		}
	}
}

func TestGoBordersSayWhoOwns(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.test() || !slices.Contains(borders, file.dir()) {
			continue
		}
		for _, fn := range file.functions() {
			if atBorder(fn) && !endsWithBorderLines(fn.Doc.Text()) {
				t.Errorf("%s:%d: the comment of %s does not end with %v", file.path, file.line(fn), fn.Name.Name, borderLines)
			}
		}
	}
}

func TestCBordersSayWhoOwns(t *testing.T) {
	for _, name := range sources(t, ".c") {
		if !slices.Contains(borders, path.Dir(name)) {
			continue
		}
		for _, fn := range cFunctions(read(name)) {
			if fn.static {
				continue
			}
			if !endsWithBorderLines(fn.comment) {
				t.Errorf("%s:%d: the comment of %s does not end with %v", name, fn.line, fn.name, borderLines)
			}
			if !because.MatchString(fn.comment) {
				t.Errorf("%s:%d: the comment of %s does not say why it is C: (a), (b), (c) or (d)", name, fn.line, fn.name)
			}
		}
	}
}

// atBorder tells whether C calls the function, or others call it and it calls C.
func atBorder(fn *ast.FuncDecl) bool {
	return exportedToC(fn) || fn.Name.IsExported() && callsC(fn)
}

func exportedToC(fn *ast.FuncDecl) bool {
	return fn.Doc != nil && slices.ContainsFunc(fn.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//export ")
	})
}

// callsC tells whether a function calls one of C. Types and addresses of C are data: to name one crosses no border.
func callsC(fn *ast.FuncDecl) bool {
	found := false
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			callee, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && isC(callee.X) && !isNumberOfC(callee.Sel.Name)
		}
		return !found
	})
	return found
}

func isC(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "C"
}

// isNumberOfC tells C's number types, C.int(n) is a conversion, from its functions.
func isNumberOfC(name string) bool {
	numbers := []string{"bool", "char", "double", "float", "int", "long", "longlong", "uint", "ulong"}
	return slices.Contains(numbers, name) || strings.HasSuffix(name, "_t")
}

// endsWithBorderLines tells whether the three begin lines of the last paragraph, in order.
func endsWithBorderLines(comment string) bool {
	paragraphs := strings.Split(strings.TrimSpace(comment), "\n\n")
	want := borderLines
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		if len(want) > 0 && strings.HasPrefix(line, want[0]) {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func TestEndsWithBorderLines(t *testing.T) {
	for comment, want := range map[string]bool{
		"": false,
		"F does.\n\nGIL: held.\nOwns: nothing,\nalso on error.\nThreads: any.\n": true,
		"F does.\nGIL: held.\nOwns: nothing.\nThreads: any.":                     true,
		"F does.\n\nOwns: nothing.\nGIL: held.\nThreads: any.":                   false,
		"F does.\n\nGIL: held.\nThreads: any.":                                   false,
		"GIL: held.\nOwns: nothing.\nThreads: any.\n\nAnd more.":                 false,
	} {
		if got := endsWithBorderLines(comment); got != want {
			t.Errorf("endsWithBorderLines(%q) = %t, want %t", comment, got, want)
		}
	}
}
