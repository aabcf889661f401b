package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"godlpack/cmd/godlpack/glue"
	"godlpack/cmd/godlpack/module"
	"godlpack/cmd/godlpack/source"
)

var buildCommand = command{
	name: "build", arguments: "[FOLDER] [-o FOLDER] [-name NAME] [-watch]", summary: "build the library of a Go package, its description and its type stubs",
	details: `
Writes _NAME.so, _NAME.json and _NAME.pyi, and nothing into the sources. NAME is the last part of the package's import
path, v2 and the like aside. The folder of -o is that of a Python package NAME beside the sources, if there is one, else the sources' own.
Python reads the library by godlpack.load_module.

`,
	run: func(flags *flag.FlagSet, arguments []string) error {
		to := flags.String("o", "", "write into this `FOLDER`")
		name := flags.String("name", "", "name the library `NAME`")
		again := flags.Bool("watch", false, "build again after each change of the module's sources, until Ctrl-C")
		others, err := parse(flags, arguments, 1)
		if err != nil {
			return err
		}
		folder := append(others, ".")[0]
		if *again {
			return watch(folder, func() error { return build(folder, *to, *name) })
		}
		return build(folder, *to, *name)
	},
}

// build makes all files before it installs the first one.
func build(folder, to, name string) error {
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
	if name, err = libraryName(pkg, name); err != nil {
		return err
	}
	files, err := compile(m, pkg, name)
	if err != nil {
		return err
	}
	return install(files, outputFolder(pkg, to, name))
}

// warn prints the package's warnings, which do not stop the build.
func warn(pkg *source.Package) {
	if len(pkg.Warnings) > 0 {
		fmt.Fprintln(os.Stderr, pkg.Warnings)
	}
}

// major matches the major version at the end of an import path.
var major = regexp.MustCompile(`[/.]v[0-9]+$`)

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// libraryName returns the name that the author gives, else the last part of the import path.
func libraryName(pkg *source.Package, name string) (string, error) {
	if name == "" {
		name = strings.ReplaceAll(path.Base(major.ReplaceAllString(pkg.Path, "")), "-", "_")
	}
	if !identifier.MatchString(name) {
		return "", fmt.Errorf("%q is not a valid name of a Python module: set one with -name", name)
	}
	return name, nil
}

// outputFolder returns the folder that the author gives, else the Python package beside the sources, else the sources' folder.
func outputFolder(pkg *source.Package, to, name string) string {
	if to != "" {
		return to
	}
	folder := filepath.Join(pkg.Folder, name)
	if _, err := os.Stat(filepath.Join(folder, "__init__.py")); err == nil {
		return folder
	}
	return pkg.Folder
}

// compile returns the finished files, by name.
func compile(m *module.Module, pkg *source.Package, name string) (map[string][]byte, error) {
	text, err := glue.Go(pkg)
	if err != nil {
		return nil, err
	}
	sidecar, err := glue.Sidecar(name, pkg)
	if err != nil {
		return nil, err
	}
	built, err := m.Build(module.Library{
		Folder: pkg.Folder, Main: glue.Main(pkg.Path), Files: map[string][]byte{source.Generated: text},
	})
	if err != nil {
		return nil, err
	}
	library, err := os.ReadFile(built)
	return map[string][]byte{
		"_" + name + ".so": library, "_" + name + ".json": sidecar, "_" + name + ".pyi": glue.Stubs(pkg),
	}, err
}

// install puts files into a folder by renaming: a running Python may have the old library mapped, and keeps it. The library
// is the last file, so that the others are new if it is.
func install(files map[string][]byte, folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) { // .json, .pyi, .so
		temporary := filepath.Join(folder, fmt.Sprintf(".%s.%d", name, os.Getpid()))
		if err := os.WriteFile(temporary, files[name], 0o666); err != nil {
			return err
		}
		if err := os.Rename(temporary, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}
