package main

import (
	"flag"

	"godlpack/cmd/godlpack/module"
)

// testCommand runs the tests in Go. Python's part of the command, python/godlpack/_command.py, does the rest and has the help.
var testCommand = command{
	name: "test", arguments: "[FOLDER] [-- ARGS]", summary: "build a project, and run its tests in Go and in Python",
	run: func(flags *flag.FlagSet, arguments []string) error {
		others, err := parse(flags, arguments, 1)
		if err != nil {
			return err
		}
		folder := append(others, ".")[0]
		m, err := module.Open(folder)
		if err != nil {
			return err
		}
		defer m.Close()
		return m.Test(folder)
	},
}
