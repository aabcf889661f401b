package archtest

import (
	"regexp"
	"strings"
	"testing"
)

// cToken matches a comment, a string or a character of C: the one that begins first hides the others.
var cToken = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`)

// stripC replaces the comments of C by spaces, so that every other byte keeps its place.
func stripC(text string) string {
	return cToken.ReplaceAllStringFunc(text, func(token string) string {
		if token[0] != '/' {
			return token
		}
		return blank(token)
	})
}

// blank returns text with spaces for everything except its line ends.
func blank(text string) string {
	blanks := []byte(text)
	for i, b := range blanks {
		if b != '\n' {
			blanks[i] = ' '
		}
	}
	return string(blanks)
}

// cFunction is the definition of a C function.
type cFunction struct {
	name    string
	line    int
	static  bool
	comment string // the comment that ends directly before the function
}

var (
	cLiteral      = regexp.MustCompile(`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`)
	cDirective    = regexp.MustCompile(`(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*`)
	cAttribute    = regexp.MustCompile(`__attribute__\s*\(\(.*?\)\)`)
	cName         = regexp.MustCompile(`(\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*$`)
	cStatic       = regexp.MustCompile(`\bstatic\b`)
	cLineComments = regexp.MustCompile(`(?m)(?:^[ \t]*//[^\n]*(?:\n|\z))+\z`) // a run of them, at the end
)

// cFunctions returns the function definitions in C text: each is an outermost brace after a parameter list.
func cFunctions(text string) []cFunction {
	code := cDirective.ReplaceAllStringFunc(cLiteral.ReplaceAllStringFunc(stripC(text), blank), blank)
	var found []cFunction
	depth, start := 0, 0
	for i, c := range []byte(code) {
		switch {
		case c == '{':
			if depth == 0 {
				if fn, ok := definition(text, code, start, i); ok {
					found = append(found, fn)
				}
			}
			depth++
		case c == '}':
			depth--
			start = i + 1
		case c == ';' && depth == 0:
			start = i + 1
		}
	}
	return found
}

// definition parses the text between the end of the last declaration and an opening brace.
func definition(text, code string, start, brace int) (cFunction, bool) {
	head := code[start:brace]
	name := cName.FindStringSubmatch(cAttribute.ReplaceAllStringFunc(head, blank))
	if name == nil {
		return cFunction{}, false
	}
	begin := start + len(head) - len(strings.TrimLeft(head, " \t\n"))
	return cFunction{
		name:    name[1],
		line:    1 + strings.Count(text[:begin], "\n"),
		static:  cStatic.MatchString(head),
		comment: lastComment(text[start:begin]),
	}, true
}

// lastComment returns the text of the comment, or of the run of // lines, that ends directly before a definition.
func lastComment(text string) string {
	text = strings.TrimRight(text, " \t\n")
	if strings.HasSuffix(text, "*/") {
		text = text[strings.LastIndex(text, "/*"):]
	} else {
		text = cLineComments.FindString(text)
	}
	var comment []string
	for line := range strings.SplitSeq(text, "\n") {
		comment = append(comment, strings.TrimSpace(strings.Trim(line, " \t/*")))
	}
	return strings.TrimSpace(strings.Join(comment, "\n"))
}

func TestCFunctions(t *testing.T) {
	const text = `#include "a.h" // GIL: {
#define TWICE(x) { \
	x; x; }
static const char *texts[] = {"a {", "b"};
struct pair { int a, b; };

/* Not this one. */

/* Adds.
 *
 * GIL: any.
   Owns: nothing. */
__attribute__((visibility("default"))) int
add(int a, int (*f)(int)) { if (a) { return f('}'); } return 0; }

// Hidden.
static int hidden(void)
{
	return 1; /* } */
}
`
	got := cFunctions(text)
	want := []cFunction{
		{"add", 13, false, "Adds.\n\nGIL: any.\nOwns: nothing."},
		{"hidden", 17, true, "Hidden."},
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}
