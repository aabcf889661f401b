package dlpack_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"godlpack/dlpack"
)

// headersVar names the copies of dlpack.h to check against, separated by colons. Many wheels carry one.
const headersVar = "GODLPACK_DLPACK_HEADERS"

func TestLayoutNames(t *testing.T) {
	layout := dlpack.Layout()
	for name, want := range map[string]uintptr{
		"sizeof DLTensor": 48, "offsetof DLTensor.data": 0, "sizeof DLTensor.ndim": 4, "offsetof DLTensor.byte_offset": 40,
		"sizeof DLManagedTensor": 64, "offsetof DLManagedTensor.deleter": 56,
		"sizeof DLManagedTensorVersioned": 80, "offsetof DLManagedTensorVersioned.flags": 24,
		"sizeof DLPackExchangeAPI": 56, "offsetof DLPackExchangeAPI.current_work_stream": 48,
		"kDLCPU": 1, "kDLTrn": 18, "kDLInt": 0, "kDLFloat4_e2m1fn": 17, "kDLBcomplex": 18, "kDLTPU": 19, "kDLTPUHost": 20, "kDLAscend": 21,
		"DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED": 4, "DLPACK_MAJOR_VERSION": 1,
	} {
		if got, known := layout[name]; !known || got != want {
			t.Errorf("%s: want %d, got %d, known %v", name, want, got, known)
		}
	}
	// 1 version, 8 records with 30 fields (size and offset each), 19 devices, 19 type codes, 3 flags
	if want := 1 + 8 + 2*30 + 19 + 19 + 3; len(layout) != want {
		t.Errorf("want %d names, got %d", want, len(layout))
	}
}

// The compiler accepts every line of Layout that the header has names for, and rejects a false one.
func TestLayoutAgainstHeaders(t *testing.T) {
	headers := os.Getenv(headersVar)
	if headers == "" {
		t.Skipf("set %s to copies of dlpack.h, separated by %c, to check the layout against them", headersVar, filepath.ListSeparator)
	}
	for _, header := range filepath.SplitList(headers) {
		known, unknown := splitByHeader(t, header)
		t.Logf("%s: %d assertions, %d names that it does not have: %v", header, len(known), len(unknown), unknown)
		if len(known) == 0 {
			t.Errorf("%s: want some names of DLPack in it, got none", header)
		}
		if out, err := compile(header, known); err != nil {
			t.Errorf("%s: %v\n%s", header, err, out)
		}
		known["sizeof DLTensor"]++
		if out, err := compile(header, known); err == nil || !strings.Contains(string(out), "DLTensor is not 49") {
			t.Errorf("%s: want a false assertion refused, got %v\n%s", header, err, out)
		}
	}
}

var (
	comment    = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// splitByHeader returns the part of Layout that the header has names for, and the names that a header of an older version does
// not have.
func splitByHeader(t *testing.T, header string) (known map[string]uintptr, unknown []string) {
	text, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{"sizeof": true, "offsetof": true}
	for _, word := range identifier.FindAllString(comment.ReplaceAllString(string(text), " "), -1) {
		has[word] = true
	}
	missing := func(word string) bool { return !has[word] }
	known = dlpack.Layout()
	for name := range known {
		if slices.ContainsFunc(identifier.FindAllString(name, -1), missing) {
			unknown = append(unknown, name)
			delete(known, name)
		}
	}
	slices.Sort(unknown)
	return known, unknown
}

// compile makes the C compiler assert the values, against the header and without output.
func compile(header string, values map[string]uintptr) (messages []byte, err error) {
	path, err := filepath.Abs(header)
	if err != nil {
		return nil, err
	}
	source := fmt.Sprintf("#include <stddef.h>\n#include %q\n", path)
	for name, value := range values {
		source += fmt.Sprintf("_Static_assert((%s) == %d, \"%s is not %d\");\n", expression(name), value, name, value)
	}
	cc := exec.Command(cmp.Or(os.Getenv("CC"), "cc"), "-std=c11", "-fsyntax-only", "-x", "c", "-")
	cc.Stdin = strings.NewReader(source)
	return cc.CombinedOutput()
}

// expression converts a name of Layout to C.
func expression(name string) string {
	what, of, compound := strings.Cut(name, " ")
	record, field, isField := strings.Cut(of, ".")
	switch {
	case !compound:
		return name
	case what == "offsetof":
		return fmt.Sprintf("offsetof(%s, %s)", record, field)
	case isField:
		return fmt.Sprintf("sizeof(((%s *)0)->%s)", record, field)
	}
	return fmt.Sprintf("sizeof(%s)", record)
}
