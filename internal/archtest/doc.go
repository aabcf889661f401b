// Package archtest holds no code: its tests hold the repository to its architecture. They read source files only, so
// they need no compiler of C and no Python. A test that fails names the file and what the rule is.
//
// Each table here is the place to change when the architecture does; docs/architecture.md tells why it is as it is.
//
//	go test -count=1 -v ./internal/archtest
//
// prints the figures: lines of C and Go, lengths of functions.
package archtest
