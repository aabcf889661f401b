package kernel

import (
	"encoding/json"
	"slices"
)

// State describes what a library keeps between calls, in package-level variables. A forked process has a fresh copy of the
// library, with their initial values.
type State struct {
	Fork      Fork     `json:"fork"`      // the host's action at a call there, if the library was called before the fork
	Variables []string `json:"variables"` // by name, of the author's own packages: "counter", "store.cache"
}

// Fork is the action of a host at a library's call in a process that was forked after a call of it.
type Fork string

// The values that hosts support.
const (
	ForkWarns  Fork = "warn"   // warns once: the author has not declared whether the loss matters
	ForkFails  Fork = "refuse" // refuses the call
	forkIsFine Fork = ""       // calls it
)

var state State

// Remember declares what this library keeps. It is for init functions, and panics if the declaration is invalid.
func Remember(s State) {
	if !slices.Contains([]Fork{ForkWarns, ForkFails}, s.Fork) || state.Fork != forkIsFine {
		panic("kernel: Remember: want ForkWarns or ForkFails, once, got " + string(s.Fork))
	}
	state = State{s.Fork, append([]string{}, s.Variables...)} // an empty list is [] in JSON, not null
}

// Remembered returns the argument of Remember as JSON; "" if there was none.
func Remembered() string {
	if state.Fork == forkIsFine {
		return ""
	}
	text, err := json.Marshal(state)
	if err != nil {
		panic(err) // it consists of strings
	}
	return string(text)
}
