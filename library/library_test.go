package library

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build makes a library of the sample, with the version script of authors' libraries.
func build(t *testing.T) string {
	t.Helper()
	script, err := filepath.Abs("exports.map")
	if err != nil {
		t.Fatal(err)
	}
	so := filepath.Join(t.TempDir(), "sample.so")
	command(t, "go", "build", "-buildmode=c-shared", "-ldflags=-extldflags=-Wl,--version-script="+script, "-o", so, "./testdata/sample")
	return so
}

// command runs a command, and returns its output. A failure ends the test.
func command(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	c := exec.Command(name, arguments...)
	// the sanitizer treats exhausted memory as no error; Go handles signals itself
	c.Env = append(os.Environ(), "ASAN_OPTIONS=allocator_may_return_null=1")
	output, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, output)
	}
	return string(output)
}

// compile compiles testdata/host.c.
func compile(t *testing.T, flags ...string) (string, error) {
	host := filepath.Join(t.TempDir(), "host")
	arguments := append([]string{"-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-I.", "-o", host, "testdata/host.c"}, flags...)
	output, err := exec.Command("cc", append(arguments, "-ldl", "-lm")...).CombinedOutput()
	if err != nil {
		t.Logf("%s", output)
	}
	return host, err
}

// A program in C opens a library and calls all of its functions, in all ways, without a leak.
func TestHostInC(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a library")
	}
	so := build(t)
	t.Run("plain", func(t *testing.T) {
		host, err := compile(t)
		if err != nil {
			t.Fatal(err)
		}
		if output := command(t, host, so); output != "" {
			t.Error(output)
		}
	})
	t.Run("with AddressSanitizer", func(t *testing.T) {
		host, err := compile(t, "-fsanitize=address")
		if err != nil {
			t.Skip("the compiler has no AddressSanitizer")
		}
		if output := command(t, host, so); strings.Contains(output, "host.c:") {
			t.Error(output)
		}
		lost := exec.Command(host, so, "lose")
		if output, err := lost.CombinedOutput(); err == nil || !strings.Contains(string(output), "LeakSanitizer") {
			t.Errorf("a tensor that is lost on purpose is not found: %v\n%s", err, output)
		}
	})
	t.Run("symbols", func(t *testing.T) {
		symbols := command(t, "nm", "-D", "--defined-only", so)
		if strings.Count(symbols, "\n") != 1 || !strings.Contains(symbols, " T godlpack_library") {
			t.Errorf("want godlpack_library alone, got\n%s", symbols)
		}
	})
}

// The header compiles alone, in C and in C++, and together with the extension's records.
func TestHeader(t *testing.T) {
	const twice = "#include \"godlpack.h\"\n#include \"godlpack.h\"\n"
	for _, c := range []struct{ language, text string }{
		{"c", twice}, {"c++", twice}, {"c", "#include \"../internal/cpython/records.h\"\n" + twice},
	} {
		cc := exec.Command("cc", "-x", c.language, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I.", "-")
		cc.Stdin = strings.NewReader(c.text)
		if output, err := cc.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", c.language, err, output)
		}
	}
}
