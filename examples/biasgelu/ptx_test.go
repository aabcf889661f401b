package biasgelu

import (
	"errors"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"godlpack/cuda"
)

var update = flag.Bool("update", false, "compile gelu.ptx anew")

// oldest is the oldest architecture that the PTX is for.
const oldest = "--gpu-architecture=compute_75"

// version matches the PTX version. A compiler writes its own, which older drivers refuse; the one in gelu.ptx, of CUDA 11, has
// all that the kernel uses.
var version = regexp.MustCompile(`(?m)^\.version .*$`)

// The PTX is the one that NVRTC, which needs no GPU, makes: GODLPACK_LIBNVRTC=.../libnvrtc.so.13 go test -run PTX -update .
func TestPTX(t *testing.T) {
	made, err := cuda.Compile(source, "gelu.cu", oldest)
	if err != nil && !errors.Is(err, cuda.ErrNoCompiler) {
		t.Fatal(err)
	}
	switch text := version.ReplaceAllString(string(made), ".version 7.0"); {
	case err != nil:
		t.Log("gelu.ptx is not compared with gelu.cu: ", err)
	case *update:
		if err := os.WriteFile("gelu.ptx", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	case release(text) != release(string(compiled)):
		t.Logf("gelu.ptx is not compared with gelu.cu: it was compiled by %s", release(string(compiled)))
	case text != string(compiled):
		t.Error("gelu.ptx is not what gelu.cu says: run this test with -update")
	}
	for _, name := range []string{"float32", "float16"} {
		if _, list, found := strings.Cut(string(compiled), ".visible .entry bias_gelu_"+name+"("); !found || strings.Count(list[:strings.Index(list, ")")], ".param") != 5 {
			t.Errorf("gelu.ptx has no kernel of 5 parameters for %s", name)
		}
	}
}

// release returns the version of the compiler that made PTX.
func release(ptx string) string {
	return regexp.MustCompile(`release [0-9.]+, V[0-9.]+`).FindString(ptx)
}

func TestGrid(t *testing.T) {
	for _, c := range []struct {
		n, m int64
		want [3]int
	}{
		{1, 1, [3]int{1, 1, 1}}, {3, 256, [3]int{1, 3, 1}}, {3, 257, [3]int{2, 3, 1}}, {1 << 20, 8, [3]int{1, 65535, 1}},
	} {
		if got := gridOf(c.n, c.m); got.Blocks != c.want || got.Threads != [3]int{256, 1, 1} || got.Shared != 0 {
			t.Errorf("%d rows of %d: got %v, want %v blocks", c.n, c.m, got, c.want)
		}
	}
}
