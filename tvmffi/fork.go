package tvmffi

import "syscall"

// wipeOnFork is MADV_WIPEONFORK of Linux 4.14: a forked child finds zeros in such memory.
const wipeOnFork = 18

// newMark returns memory that holds 1 in this process, and 0 in its forked children: reading it costs nothing, other than
// asking for the process id at each call.
func newMark() (*byte, error) {
	page, err := syscall.Mmap(-1, 0, syscall.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	if err := syscall.Madvise(page, wipeOnFork); err != nil {
		return nil, err
	}
	page[0] = 1
	return &page[0], nil
}
