package kernel

import (
	"encoding/json"
	"slices"
)

// State says what a library remembers between calls, in package-level variables. A forked process has a fresh copy of the
// library, where they are as at the start.
type State struct {
	Fork      Fork     `json:"fork"`      // what a host does when the library is called there, if it was called before the fork
	Variables []string `json:"variables"` // by name, of the packages that are the author's own: "counter", "store.cache"
}

// Fork is what a host does when a library is called in a process that was forked after a call of it.
type Fork string

// What hosts know.
const (
	ForkWarns  Fork = "warn"   // warns once: nobody has said whether the loss matters
	ForkFails  Fork = "refuse" // refuses the call
	forkIsFine Fork = ""       // calls it
)

var state State

// Remember says what this library remembers. It is for init functions, and panics if the declaration makes no sense.
func Remember(s State) {
	if !slices.Contains([]Fork{ForkWarns, ForkFails}, s.Fork) || state.Fork != forkIsFine {
		panic("kernel: Remember: want ForkWarns or ForkFails, once, got " + string(s.Fork))
	}
	state = State{s.Fork, append([]string{}, s.Variables...)} // none is [] in JSON, not null
}

// Remembered is what Remember was told, as JSON; "" if nothing.
func Remembered() string {
	if state.Fork == forkIsFine {
		return ""
	}
	text, err := json.Marshal(state)
	if err != nil {
		panic(err) // it is made of strings
	}
	return string(text)
}
