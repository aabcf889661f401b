package source

import (
	"regexp"
	"slices"
	"strings"
)

var (
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	capital    = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)
	hump       = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// keywords are Python's keywords, except the soft ones.
var keywords = strings.Fields(`False None True and as assert async await break class continue def del elif else except
	finally for from global if import in is lambda nonlocal not or pass raise return try while with yield`)

// reserved are the keyword arguments of every function with tensors among its results.
var reserved = []string{"like", "out"}

// pythonName returns a Go name in Python's style: LogSoftmax is log_softmax, nRows n_rows, lambda lambda_.
func pythonName(name string) string {
	name = hump.ReplaceAllString(capital.ReplaceAllString(name, "${1}_${2}"), "${1}_${2}")
	name = strings.ToLower(name)
	if slices.Contains(keywords, name) {
		name += "_"
	}
	return name
}

// isPythonName reports whether name is valid as the name of a Python function.
func isPythonName(name string) bool {
	return identifier.MatchString(name) && !slices.Contains(keywords, name)
}
