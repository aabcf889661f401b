package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"

	"godlpack/cmd/godlpack/module"
)

const (
	poll   = 200 * time.Millisecond // between two looks at the files
	settle = 50 * time.Millisecond  // an editor may write several files, or one in several steps
)

// interruptedError is the end of a command by Ctrl-C.
type interruptedError struct{}

func (interruptedError) Error() string { return "interrupted" }

// watch builds, and again after each change of the module's sources, until Ctrl-C. Errors of builds are printed.
func watch(folder string, build func() error) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	root, err := module.Root(folder)
	if err != nil {
		return err
	}
	fmt.Printf("watching the Go module in %s; Ctrl-C ends this\n", root)
	for {
		before := stampsOf(root)
		start := time.Now()
		err := build()
		took := time.Since(start)
		if err != nil && interrupted(interrupts, settle) { // the go command got the signal, too: its error is no news
			return interruptedError{}
		}
		report(err, took)
		if !waitForChange(root, before, interrupts) {
			return interruptedError{}
		}
	}
}

// report prints the result of a build in one line, after its error.
func report(err error, took time.Duration) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		fmt.Printf("the build failed after %.2f s; the library is that of the last build\n", took.Seconds())
		return
	}
	fmt.Printf("built in %.2f s\n", took.Seconds())
}

// waitForChange returns true when the sources differ from those of a build and rest, false on an interrupt.
func waitForChange(root string, built map[string]stamp, interrupts <-chan os.Signal) bool {
	for last, pause := built, time.Duration(0); ; {
		if interrupted(interrupts, pause) {
			return false
		}
		start := time.Now()
		now := stampsOf(root)
		switch {
		case maps.Equal(now, built):
			pause = max(poll, 10*time.Since(start)) // a large folder must not occupy a core
		case maps.Equal(now, last):
			return true
		default:
			pause = settle
		}
		last = now
	}
}

// interrupted waits for an interrupt, and reports whether one came in time.
func interrupted(interrupts <-chan os.Signal, pause time.Duration) bool {
	select {
	case <-interrupts:
		return true
	case <-time.After(pause):
		return false
	}
}

// A stamp differs between two versions of a file.
type stamp struct {
	size    int64
	changed time.Time
}

// notSources matches the names of files and folders that no build of a library reads: what it writes itself, tests, Python's
// files. All others may be read, by go:embed.
var notSources = regexp.MustCompile(`^([._].*|__pycache__|testdata|node_modules|.*_test\.go|.*\.(so|py|pyc|pyi)|.*~)$`)

// stampsOf returns the stamps of a module's sources, by path. What cannot be read is left out: the build will say why.
func stampsOf(root string) map[string]stamp {
	stamps := map[string]stamp{}
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case path != root && notSources.MatchString(entry.Name()), entry.IsDir() && isEnvironment(path):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		if info, err := os.Stat(path); err == nil {
			stamps[path] = stamp{info.Size(), info.ModTime()}
		}
		return nil
	})
	return stamps
}

// isEnvironment reports whether a folder is a virtual environment of Python.
func isEnvironment(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "pyvenv.cfg"))
	return err == nil
}
