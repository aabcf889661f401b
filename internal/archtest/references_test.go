package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

const cpython = "internal/cpython"

// givesReference matches an Owns line by which the caller gets references that it must release.
var givesReference = regexp.MustCompile(`(?ms)^Owns:.*\bresults? (is|are) new\b`)

// TestNewReferencesAreNamed checks that no code drops a reference which a function of internal/cpython returned: by a method
// call on the result in place (x.Find("item").Exists()), by an assignment to _, or by no use of the result.
func TestNewReferencesAreNamed(t *testing.T) {
	givers := giversOfReferences(t)
	if !givers[".Find"] || !givers["cpython.None"] || givers[".Has"] {
		t.Fatal("found too few functions that give references: have their comments changed?")
	}
	for _, file := range goFiles(t) {
		if file.test() || !slices.Contains(file.imports(), "godlpack/"+cpython) {
			continue
		}
		for _, call := range dropped(file.syntax, givers) {
			t.Errorf("%s:%d: the new reference that %s gives is dropped: name it, and release it", file.path, file.line(call), called(call))
		}
	}
}

// giversOfReferences returns the functions of internal/cpython that return new references ("cpython.None"), and the methods
// (".Find"), unless another type's method of the same name returns none.
func giversOfReferences(t *testing.T) map[string]bool {
	givers, others := map[string]bool{}, map[string]bool{}
	for _, file := range goFiles(t) {
		if file.dir() != cpython || file.test() {
			continue
		}
		for _, fn := range file.functions() {
			name := "." + fn.Name.Name
			if fn.Recv == nil {
				name = "cpython" + name
			}
			if givesReference.MatchString(fn.Doc.Text()) {
				givers[name] = true
			} else {
				others[name] = true
			}
		}
	}
	for name := range others {
		delete(givers, name)
	}
	return givers
}

// dropped returns the calls of givers whose result no code can release.
func dropped(file *ast.File, givers map[string]bool) (calls []*ast.CallExpr) {
	judge := func(x ast.Expr) {
		if call, ok := x.(*ast.CallExpr); ok && givers[called(call)] {
			calls = append(calls, call)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ExprStmt:
			judge(n.X)
		case *ast.SelectorExpr:
			judge(n.X)
		case *ast.AssignStmt:
			if id, ok := n.Lhs[0].(*ast.Ident); ok && id.Name == "_" {
				judge(n.Rhs[0])
			}
		}
		return true
	})
	return calls
}

// packages are the packages with functions that have the same names as methods of an Object.
var packages = []string{"cpython", "exchange", "capsule", "memory", "tensor", "dlpack", "cuda", "strings", "slices"}

// called returns the name of the called function: "exchange.Find" for one of a package, ".Find" for anything else.
func called(call *ast.CallExpr) string {
	callee, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if id, ok := callee.X.(*ast.Ident); ok && slices.Contains(packages, id.Name) {
		return id.Name + "." + callee.Sel.Name
	}
	return "." + callee.Sel.Name
}

func TestDropped(t *testing.T) {
	givers := map[string]bool{".Find": true, "cpython.None": true}
	for text, want := range map[string]int{
		`x.Find("item").Exists()`:                 1,
		`x.Find("a").Find("b").Release()`:         2,
		`cpython.None()`:                          1,
		`_ = x.Find("item")`:                      1,
		`a := x.Find("item"); a.Release()`:        0,
		`exchange.Find(x).Exists()`:               0,
		`f(x.Find("item"))`:                       0,
		`a, b := x.Find("c"), y; defer b.Push(a)`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nfunc f(x, y Object) {\n"+text+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(dropped(file, givers)); got != want {
			t.Errorf("%s: %d dropped, want %d", text, got, want)
		}
	}
}
