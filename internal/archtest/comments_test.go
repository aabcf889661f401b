package archtest

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// borders are the packages whose functions state who holds the GIL, who owns what and which threads may call. Those with true
// state a default in the package's doc.go: a comment there has only the lines that differ from it. In the others, and for
// functions that C calls, a comment has all lines.
var borders = map[string]bool{"internal/cpython": true, "pyext/core": true, "library": false, "tvmffi": false}

// borderLines end the comment of a function at a border, in this order; each may continue over several lines. Only functions
// of C have the first one.
var borderLines = []string{"C because:", "GIL:", "Owns:", "Threads:"}

// byDefault are the lines that only repeat the default.
var byDefault = []string{
	"C because: (c).", "GIL: held.", "Owns: nothing.", "Owns: nothing passes.", "Threads: any with the GIL.",
}

// because matches one of the four reasons for C: (a) only a macro or a struct offers it, (b) it must be a C function
// pointer, (c) it repeats a plan and must not enter Go, (d) it loops over arguments so that Go is entered once.
var because = regexp.MustCompile(`^C because: \([abcd]\)`)

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

// The comment of a package shows how it is used, unless an Example does, which is compiled.
func TestPackagesHaveExamples(t *testing.T) {
	files := goFiles(t)
	for _, module := range nestedModules(t) {
		for _, name := range goFilesIn(t, filepath.Join(root, module)) {
			syntax, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			path, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, goFile{path: filepath.ToSlash(path), syntax: syntax})
		}
	}
	shown := map[string]bool{}
	for _, file := range files {
		shown[file.dir()] = shown[file.dir()] || hasCode(file.syntax.Doc) || slices.ContainsFunc(file.functions(), isExample)
	}
	for dir, ok := range shown {
		if !ok {
			t.Errorf("%s: neither a code block in the package comment nor an Example function shows how it is used", dir)
		}
	}
}

// hasCode reports whether a doc comment contains a code block.
func hasCode(doc *ast.CommentGroup) bool {
	return slices.ContainsFunc(new(comment.Parser).Parse(doc.Text()).Content, func(block comment.Block) bool {
		_, isCode := block.(*comment.Code)
		return isCode
	})
}

// isExample reports whether a function is the Example of its package.
func isExample(fn *ast.FuncDecl) bool { return fn.Recv == nil && fn.Name.Name == "Example" }

func TestGoBordersSayWhoOwns(t *testing.T) {
	for _, file := range goFiles(t) {
		hasDefault, isBorder := borders[file.dir()]
		if file.test() || !isBorder {
			continue
		}
		for _, fn := range file.functions() {
			if !atBorder(fn) {
				continue
			}
			wrong := wrongBorderLines(fn.Doc.Text(), borderLines[1:], hasDefault && !exportedToC(fn))
			if wrong != "" {
				t.Errorf("%s:%d: the comment of %s: %s", file.path, file.line(fn), fn.Name.Name, wrong)
			}
		}
	}
}

func TestCBordersSayWhoOwns(t *testing.T) {
	for _, name := range sources(t, ".c") {
		hasDefault, isBorder := borders[path.Dir(name)]
		if !isBorder {
			continue
		}
		for _, fn := range cFunctions(read(name)) {
			if fn.static {
				continue
			}
			if strings.TrimSpace(fn.comment) == "" {
				t.Errorf("%s:%d: %s has no comment", name, fn.line, fn.name)
			}
			if wrong := wrongBorderLines(fn.comment, borderLines, hasDefault); wrong != "" {
				t.Errorf("%s:%d: the comment of %s: %s", name, fn.line, fn.name, wrong)
			}
		}
	}
}

// atBorder reports whether C calls the function, or whether it is exported and calls C.
func atBorder(fn *ast.FuncDecl) bool {
	return exportedToC(fn) || fn.Name.IsExported() && callsC(fn)
}

func exportedToC(fn *ast.FuncDecl) bool {
	return fn.Doc != nil && slices.ContainsFunc(fn.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//export ")
	})
}

// callsC reports whether a function calls a function of C. The use of a type or an address of C is not a call.
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

// isNumberOfC reports whether name is a number type of C: C.int(n) is a conversion, not a call.
func isNumberOfC(name string) bool {
	numbers := []string{"bool", "char", "double", "float", "int", "long", "longlong", "uint", "ulong"}
	return slices.Contains(numbers, name) || strings.HasSuffix(name, "_t")
}

// wrongBorderLines returns what is wrong with the lines that end a comment, "" if nothing. They must begin lines of the last
// paragraph, in order; with a default, none may repeat it; without one, none may be missing.
func wrongBorderLines(comment string, want []string, hasDefault bool) string {
	paragraphs := strings.Split(strings.TrimSpace(comment), "\n\n")
	rest := want
	for line := range strings.Lines(paragraphs[len(paragraphs)-1]) {
		line = strings.TrimSpace(line)
		key := slices.IndexFunc(want, func(key string) bool { return strings.HasPrefix(line, key) })
		if key < 0 {
			continue
		}
		at := slices.Index(rest, want[key])
		switch {
		case at < 0:
			return want[key] + " is out of order, or there twice"
		case !hasDefault && at > 0:
			return rest[0] + " is missing"
		case hasDefault && slices.Contains(byDefault, line):
			return line + " is the default, which doc.go states for all"
		case want[key] == borderLines[0] && !because.MatchString(line):
			return line + " names none of the reasons (a) to (d)"
		}
		rest = rest[at+1:]
	}
	if !hasDefault && len(rest) > 0 {
		return rest[0] + " is missing"
	}
	return ""
}

func TestWrongBorderLines(t *testing.T) {
	for comment, want := range map[string][2]bool{ // right where all lines must be there, and where there is a default
		"":        {false, true},
		"F does.": {false, true},
		"F does.\n\nGIL: any.\nOwns: nothing,\nalso on error.\nThreads: one.\n": {true, true},
		"F does.\nGIL: any.\nOwns: its x.\nThreads: any.":                       {true, true},
		"F does.\nGIL: any.\nThreads: any.":                                     {false, true},
		"F does.\nGIL: held.\nOwns: its x.\nThreads: any.":                      {true, false},
		"F does.\n\nOwns: its x.\nGIL: any.\nThreads: any.":                     {false, false},
		"GIL: any.\nOwns: its x.\nThreads: any.\n\nAnd more.":                   {false, true},
	} {
		for i, hasDefault := range []bool{false, true} {
			if wrong := wrongBorderLines(comment, borderLines[1:], hasDefault); (wrong == "") != want[i] {
				t.Errorf("wrongBorderLines(%q, default %t) = %q", comment, hasDefault, wrong)
			}
		}
	}
}
