package scaffold

import (
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for name, want := range map[string]string{
		"func": "a keyword of Go", "class": "a keyword of Python", "match": "a keyword of Python", "main": "special meaning",
		"len": "predeclared identifier", "string": "predeclared identifier", "error": "predeclared identifier", "any": "predeclared identifier", "nil": "predeclared identifier",
		"numpy": "would hide", "godlpack": "would hide", "json": "Python itself", "statistics": "Python itself",
		"internal": "special meaning", "tests": "special meaning", "fast_test": "such as fast_ops", "func_": "",
		"fastops": "", "fast_ops2": "", "kernel": "", "math2": "",
		"Fast-Ops": "such as fast_ops", "2fast": "such as fast", "_fast": "such as fast", "": "such as fast_ops", "Class": "such as fast_ops",
		"héllo": "such as h_llo",
	} {
		err := CheckName(name)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want %q, got %v", name, want, err)
		}
	}
}
