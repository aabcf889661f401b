package source

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// packageMarks reads the directives of a file that are about the package, and reports those in a wrong place.
func (r *reader) packageMarks(file *ast.File) {
	comments := slices.Clone(file.Comments)
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			comments = slices.DeleteFunc(comments, func(c *ast.CommentGroup) bool { return c == fn.Doc || r.read[c] })
		}
	}
	for _, c := range comments {
		for _, d := range directivesOf(c) {
			switch {
			case !known(d.verb):
				r.add(d.at, "%s", unknown(d.verb))
			case d.verb == "state" && !inFunction(file, c):
				r.state(d)
			case d.verb == "result" && c == file.Doc && len(d.words) == 1 && isLike(d.words[0]):
				r.like = r.framework(d.words[0])
			default:
				r.add(d.at, "this directive is not in the comment directly above a function, a type or a field of an exported type, so it has no effect")
			}
		}
	}
}

func inFunction(file *ast.File, c *ast.CommentGroup) bool {
	return slices.ContainsFunc(file.Decls, func(decl ast.Decl) bool {
		_, ok := decl.(*ast.FuncDecl)
		return ok && decl.Pos() < c.Pos() && c.Pos() < decl.End()
	})
}

// state parses fork=fresh and fork=refuse.
func (r *reader) state(d directive) {
	switch text := restOf(d); {
	case r.fork != "":
		r.add(d.at, "want state at most once for each package")
	case text == "fork=fresh" || text == "fork=refuse":
		r.fork = strings.TrimPrefix(text, "fork=")
	default:
		r.add(d.at, "want %s: a forked process, where the package's variables have their initial values, may call it (fresh) or may not (refuse)", usage("state"))
	}
}

// unknown returns the error for an unknown directive, with the one that may be meant.
func unknown(verb string) string {
	if meant := nearest(verb); meant != "" {
		return fmt.Sprintf("there is no directive %q: write %s", verb, usage(meant))
	}
	return "there is no such directive; want one of: " + usage("")
}

// nearest returns the directive that is the most similar, with at most two different letters; "" if there is none.
func nearest(verb string) string {
	for most := range 3 {
		for _, d := range directives {
			if distance(verb, d.verb) <= min(most, len(d.verb)/2) {
				return d.verb
			}
		}
	}
	return ""
}

// distance returns the number of letters that must be inserted, deleted or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// slip matches a comment that looks like a directive, with an extra blank or wrong letters.
var slip = regexp.MustCompile(`^//([ \t]*)([A-Za-z]+)(:|[ \t]*[-:][ \t]*|[ \t]+)([a-z]+)`)

// slips reports comments that look like directives but are not, since Go reports no error for them.
func (r *reader) slips(file *ast.File) {
	for _, group := range file.Comments {
		for _, line := range group.List {
			part := slip.FindStringSubmatch(line.Text)
			if part == nil || strings.HasPrefix(line.Text, prefix) {
				continue
			}
			meant := nearest(part[4])
			exact := part[1] == "" || part[3] == ":" // otherwise it may be a sentence
			if meant != "" && exact && (part[3] == ":" || part[4] == meant) && distance(strings.ToLower(part[2]), "godlpack") <= 2 {
				r.add(line.Pos(), "this is an ordinary comment; if you mean a directive, write it as %s", usage(meant))
			}
		}
	}
}

// exportsElsewhere finds marked functions in a package that is only imported. They are a warning, since the author may build
// that package, too.
func exportsElsewhere(p, root *packages.Package) Problems {
	r := reporter{fset: p.Fset}
	for _, file := range p.Syntax {
		for _, group := range file.Comments {
			for _, d := range directivesOf(group) {
				if (d.verb == "export" || d.verb == "async") && r.found == nil {
					r.add(d.at, "warning: only functions of the package that is built can be called, and this is package %s, which %s imports: "+
						"export a function there that calls this one", p.PkgPath, root.PkgPath)
				}
			}
		}
	}
	return r.found
}

// exportsLeftOut finds marked functions in files that build constraints exclude.
func exportsLeftOut(p *packages.Package) Problems {
	var found Problems
	for _, name := range p.IgnoredFiles {
		text, err := os.ReadFile(name)
		if err != nil || !strings.HasSuffix(name, ".go") {
			continue
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			if n++; strings.HasPrefix(line, prefix+"export") || strings.HasPrefix(line, prefix+"async") {
				p := Problem{Text: "warning: build constraints or the file's name leave this file out, so the function cannot be called"}
				p.At.Filename, p.At.Line, p.At.Column = name, n, 1
				found = append(found, p)
				break
			}
		}
	}
	return found
}
