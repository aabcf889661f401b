package main

import (
	"flag"
	"os"
	"path/filepath"

	"godlpack/cmd/godlpack/glue"
	"godlpack/cmd/godlpack/module"
	"godlpack/cmd/godlpack/source"
)

var generateCommand = command{
	name: "generate", arguments: "[FOLDER]", summary: "write the glue of a Go package, " + source.Generated + ", into its folder",
	details: `
A build does not need it, since it makes its own; it is there to be read, vetted and debugged. Functions marked
//godlpack:export are taken; what Python cannot pass is an error at its line.

` + source.Directives(),
	run: func(flags *flag.FlagSet, arguments []string) error {
		others, err := parse(flags, arguments, 1)
		if err != nil {
			return err
		}
		return generate(append(others, ".")[0])
	},
}

func generate(folder string) error {
	m, err := module.Open(folder)
	if err != nil {
		return err
	}
	defer m.Close()
	pkg, err := source.Load(m, folder)
	if err != nil {
		return err
	}
	warn(pkg)
	text, err := glue.Go(pkg)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, source.Generated), text, 0o644)
}
