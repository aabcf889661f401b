package module

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// Environment returns the caller's environment without the settings that do not fit a library for this Python: another
// platform, the race detector, no modules. GOWORK is off, since -modfile does not work in a workspace; see workspace.go.
func Environment() []string { return append(environment(), "GOWORK=off") }

// environment is Environment with the caller's workspace.
func environment() []string {
	env := append(os.Environ(), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GO111MODULE=on", "CGO_ENABLED=1")
	return append(env, "GOFLAGS="+strings.Join(keptFlags(os.Getenv("GOFLAGS")), " "))
}

// kept are the flags of go build that an author may set in GOFLAGS: those that choose what is compiled, and how fast.
var kept = []string{"-tags", "-gcflags", "-asmflags", "-p", "-pgo", "-mod", "-modcacherw", "-buildvcs"}

// keptFlags returns the flags in text that are kept. The result is never empty: with an empty GOFLAGS the go command would
// use the user's `go env -w GOFLAGS`.
func keptFlags(text string) []string {
	flags := []string{"-buildvcs=false"}
	for _, flag := range splitFlags(text) {
		name, _, _ := strings.Cut(flag, "=")
		if slices.Contains(kept, "-"+strings.TrimLeft(strings.Trim(name, `'"`), "-")) {
			flags = append(flags, flag)
		}
	}
	return flags
}

// splitFlags splits GOFLAGS at blanks, as the go command does: a flag that contains blanks begins and ends with a quote.
func splitFlags(text string) []string {
	var flags []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := strings.IndexAny(text, " \t\n")
		if text[0] == '"' || text[0] == '\'' {
			end = strings.IndexByte(text[1:], text[0]) + 2
		}
		if end < 2 {
			end = len(text)
		}
		flags, text = append(flags, text[:end]), text[end:]
	}
	return flags
}

// chosenMod returns the value of -mod= in GOFLAGS, "" if there is none.
func chosenMod() string {
	chosen := ""
	for _, flag := range splitFlags(os.Getenv("GOFLAGS")) {
		if name, value, ok := strings.Cut(strings.TrimLeft(flag, "-"), "="); ok && name == "mod" {
			chosen = value
		}
	}
	return chosen
}
