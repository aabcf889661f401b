// Package archtest contains only tests, which check that the repository follows its architecture. They read only source
// files, so they need no C compiler and no Python. A test that fails names the file and the rule.
//
// A change of the architecture changes a table here; docs/architecture.md gives the reasons for the architecture.
//
//	go test -count=1 -v ./internal/archtest
//
// prints the numbers: lines of C and Go, lengths of functions.
package archtest
