package kernel

import (
	"runtime"
	"testing"
)

func TestSetThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	own := SetThreads(0)
	for _, c := range []struct{ n, want int }{{3, 3}, {-1, 3}, {1, 1}, {1, 1}, {7, 7}, {0, own}, {-1, own}, {0, own}} {
		if got := SetThreads(c.n); got != c.want || runtime.GOMAXPROCS(0) != c.want {
			t.Errorf("SetThreads(%d): got %d, want %d", c.n, got, c.want)
		}
	}
}
