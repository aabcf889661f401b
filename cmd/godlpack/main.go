package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"

	"godlpack/cmd/godlpack/module"
)

// version is set by the linker: -X main.version=0.1.0.
var version = "(unreleased)"

// A command is a subcommand of the tool.
type command struct {
	name, arguments, summary string
	details                  string
	run                      func(flags *flag.FlagSet, arguments []string) error
}

var commands = []command{newCommand, generateCommand, buildCommand, developCommand, testCommand, versionCommand}

var versionCommand = command{
	name: "version", summary: "print the versions of godlpack and of the Go that the tool was built with",
	run: func(flags *flag.FlagSet, arguments []string) error {
		if _, err := parse(flags, arguments, 0); err != nil {
			return err
		}
		_, err := fmt.Printf("godlpack %s (%s %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	},
}

func main() {
	// On Ctrl-C the go command ends, since it gets the signal, too; then this program removes its files and ends.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	err := run(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case errors.As(err, new(usageError)):
		fmt.Fprintf(os.Stderr, "godlpack: %v\nRun `godlpack help` for a list of commands.\n", err)
		os.Exit(2)
	case errors.As(err, new(interruptedError)):
		os.Exit(130)
	case errors.As(err, new(*exec.ExitError)): // go test has printed why
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// usageError is a mistake on the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

func run(arguments []string) error {
	if len(arguments) == 0 || arguments[0] == "help" || strings.TrimLeft(arguments[0], "-") == "help" || arguments[0] == "-h" {
		help(os.Stdout)
		return nil
	}
	for _, c := range commands {
		if c.name == strings.TrimLeft(arguments[0], "-") {
			if err := module.FindGo(); err != nil {
				return err
			}
			return c.run(c.flags(), arguments[1:])
		}
	}
	return usageError(fmt.Sprintf("unknown command %q", arguments[0]))
}

func help(w io.Writer) {
	fmt.Fprint(w, "godlpack makes a Python package of Go functions over tensors.\n\nusage: godlpack COMMAND [arguments]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\nRun `godlpack COMMAND --help` for details. The variable GO sets the go command (default: the one on PATH).\n")
}

// flags returns an empty set of flags with the command's usage text.
func (c command) flags() *flag.FlagSet {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {
		fmt.Printf("usage: godlpack %s %s\n\n%s.\n%s", c.name, c.arguments, strings.ToUpper(c.summary[:1])+c.summary[1:], c.details)
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		flags.SetOutput(io.Discard)
	}
	return flags
}

// parse parses flags and other arguments, in any order, and returns the latter; more than most of them are an error.
func parse(flags *flag.FlagSet, arguments []string, most int) ([]string, error) {
	var others []string
	for len(arguments) > 0 {
		if err := flags.Parse(arguments); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, usageError(fmt.Sprintf("%s: %v", flags.Name(), err))
		}
		if arguments = flags.Args(); len(arguments) > 0 {
			others, arguments = append(others, arguments[0]), arguments[1:]
		}
	}
	if len(others) > most {
		return nil, usageError(fmt.Sprintf("%s: unexpected argument %q", flags.Name(), others[most]))
	}
	return others, nil
}
