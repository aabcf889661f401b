package kernel

import (
	"os"
	"runtime"
	"sync"
)

var threads = struct {
	sync.Mutex
	set bool // the number is not the one that Go would choose by itself
}{set: os.Getenv("GOMAXPROCS") != ""}

// SetThreads lets Go compute in n threads at a time, which is how wide Parallel is; 0 stands for as many as the processors
// that this process may use. A negative n changes nothing. It returns how many there are now. Hosts call it, for all libraries
// alike: see threads in godlpack.h.
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
