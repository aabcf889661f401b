package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// cVariable matches the head of a static declaration anywhere, or of any declaration outside of functions.
	cVariable = regexp.MustCompile(`(?m)^(?:[ \t]*static\b[^;={]*|[A-Za-z_][\w \t*]*\w(?:\[\w*\])?[ \t]*)[;={]`)
	// cRecord matches the head of the definition of a struct or a union.
	cRecord = regexp.MustCompile(`^(struct|union) \w+ \{$`)
	// cParameters matches the parameters at the end of a function's head.
	cParameters = regexp.MustCompile(`\w\s*\((?:[^()]|\([^()]*\))*\)\s*[;{]$`)
	// cConstant matches a declaration that is not a variable, or whose owner is stated; the four types are those of tables that
	// Python only reads.
	cConstant = regexp.MustCompile(`\b(const|extern|typedef|enum|GD_KEPT|GD_OWN|PyMethodDef|PyGetSetDef|PyMemberDef|PyType_Spec)\b`)
)

// unowned lists the variables of C text without a mark whether a copy of the library takes over their values.
func unowned(text string) []string {
	code := cDirective.ReplaceAllStringFunc(cLiteral.ReplaceAllStringFunc(stripC(text), blank), blank)
	var found []string
	for _, head := range cVariable.FindAllString(code, -1) {
		if !cConstant.MatchString(head) && !cRecord.MatchString(head) && !cParameters.MatchString(head) {
			found = append(found, strings.TrimSpace(head))
		}
	}
	return found
}

// After a fork Go runs in a copy of the extension module, which must not use a copy of the first library's state
// (internal/cpython/variables.h).
func TestVariablesOfCHaveAnOwner(t *testing.T) {
	for _, name := range sources(t, ".c") {
		if path.Dir(name) != "internal/cpython" {
			continue
		}
		for _, head := range unowned(read(name)) {
			t.Errorf("%s: %q is neither GD_KEPT nor GD_OWN nor const", name, head)
		}
	}
}

func TestUnowned(t *testing.T) {
	const text = `
static GD_KEPT PyObject *name;
GD_OWN gd_runtime own = {.start = start};
static const int table[] = {1, 2};
static PyMethodDef methods[] = {{0}};
extern char begin[];
typedef int number;
int prototype(int a);
static PyObject *get(PyObject *x, int (*f)(void)) {
  static GD_OWN _Atomic(int (*)(void)) ask;
  int local = 3;
  return x;
}
static PyObject *interned;
  static bool asked;
int64_t count = 0;
struct record {
  int a;
};
static struct { int a; } pair;
`
	want := []string{"static PyObject *interned;", "static bool asked;", "int64_t count =", "static struct {"}
	if got := unowned(text); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
