//go:build unix

package kernel

import "syscall"

// A wakeFile is a file descriptor that an event loop waits for: an eventfd, or a pipe.
type wakeFile int

// openWakeFile returns a copy of the host's file descriptor, which programs that this process starts do not get.
func openWakeFile(file int) (wakeFile, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	own, err := syscall.Dup(file)
	if err != nil {
		return 0, err
	}
	syscall.CloseOnExec(own)
	return wakeFile(own), nil
}

// wake makes the file readable. Neither an eventfd nor a pipe blocks here: the host reads before the next one.
func (f wakeFile) wake() {
	one := [8]byte{0: 1, 7: 1} // a number above 0 in any order of bytes
	for {
		if _, err := syscall.Write(int(f), one[:]); err != syscall.EINTR {
			return
		}
	}
}

func (f wakeFile) close() { syscall.Close(int(f)) }
