package main

import "flag"

// developCommand is Python's, python/godlpack/_command.py; it is here for `godlpack help`.
var developCommand = command{
	name: "develop", arguments: "[FOLDER]", summary: "build a project, and install it into this Python so that imports read the sources' folder",
	run: func(*flag.FlagSet, []string) error {
		return usageError("develop: this command is run by Python: `python -m godlpack develop`")
	},
}
