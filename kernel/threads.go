package kernel

import (
	"os"
	"runtime"
	"sync"
)

var threads = struct {
	sync.Mutex
	set bool // the number is not Go's own default
}{set: os.Getenv("GOMAXPROCS") != ""}

// SetThreads limits Go to n threads that compute at a time, which is also the width of Parallel; 0 stands for the number of
// processors available to this process. A negative n changes nothing. It returns the number now in force. Hosts call it, for
// all libraries alike: see threads in godlpack.h.
func SetThreads(n int) int {
	threads.Lock()
	defer threads.Unlock()
	switch {
	case n > 0:
		runtime.GOMAXPROCS(n)
		threads.set = true
	case n == 0 && threads.set:
		runtime.SetDefaultGOMAXPROCS()
		threads.set = false
	}
	return runtime.GOMAXPROCS(0)
}
