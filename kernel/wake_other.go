//go:build !unix

package kernel

import "errors"

// A wakeFile is a file descriptor that an event loop waits for, which this system does not have.
type wakeFile struct{}

func openWakeFile(int) (wakeFile, error) { return wakeFile{}, errors.ErrUnsupported }

func (wakeFile) wake()  {}
func (wakeFile) close() {}
