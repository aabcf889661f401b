package source

import (
	"go/ast"
	"go/token"
	"strings"
)

const prefix = "//godlpack:"

// directives are all directives, with their syntax and their purpose. All except state are about functions.
var directives = []struct{ verb, usage, purpose string }{
	{"export", "//godlpack:export [python_name]", "exports the function or the method to Python, the type as a class, the field as an attribute, or the error, a value or a type, as an exception; of errors, base=KeyError makes it a KeyError"},
	{"new", "//godlpack:new", "the function, which returns a pointer to an exported type, is the constructor of its class"},
	{"get", "//godlpack:get [python_name]", "the method, without arguments, returns an attribute"},
	{"set", "//godlpack:set [python_name]", "the method, with one argument, sets an attribute"},
	{"types", "//godlpack:types T=float32,float64", "the types for which a generic function is compiled"},
	{
		"arg", "//godlpack:arg NAME [shape=[n,3]] [order=C|F] [device=cpu|cuda|any] [default=VALUE] [keyword] [convert] [overlap]",
		"the requirements on an argument; keyword: it is passed by name alone",
	},
	{"exclusive", "//godlpack:exclusive", "above an exported type: an object has one call at a time, and a second one, by another thread, is a RuntimeError"},
	{"options", "//godlpack:options", "the exported fields of the struct are keyword-only parameters of functions that take it; their defaults are those of a field's //godlpack:arg default=VALUE, or of the function Default<Type>() of the package"},
	{
		"result", "//godlpack:result [NUMBER] [shape=[n,3]] [device=cpu|cuda|any] [shared] [like=numpy|torch|jax|cupy|godlpack]",
		"the properties of a tensor result, numbered from 0; shared: its memory is not copied; like: its framework if no argument is a tensor; above the package clause: for all functions",
	},
	{"prefetch", "//godlpack:prefetch N", "above a function that returns an iterator: how many elements its code is ahead of Python, 1 without the directive; 0: none"},
	{"async", "//godlpack:async [python_name]", "exports the function or the method as a coroutine function: Python awaits its result, or each element of its iterator, and the event loop goes on"},
	{"gil", "//godlpack:gil hold", "keep the GIL during the call: for functions that take microseconds"},
	{
		"state", "//godlpack:state fork=fresh|refuse",
		"once in a package, not above a function: a forked process, which lacks the values of the package's variables, may call it (fresh) or may not (refuse)",
	},
}

// Directives returns an explanation of all directives, two lines each.
func Directives() string {
	var text strings.Builder
	for _, d := range directives {
		text.WriteString("  " + d.usage + "\n      " + d.purpose + "\n")
	}
	return text.String()
}

// usage returns the syntax of a directive, or of all of them if the verb is unknown.
func usage(verb string) string {
	var all []string
	for _, d := range directives {
		if d.verb == verb {
			return d.usage
		}
		all = append(all, d.usage)
	}
	return strings.Join(all, ", ")
}

func known(verb string) bool {
	for _, d := range directives {
		if d.verb == verb {
			return true
		}
	}
	return false
}

// A directive is one //godlpack: line.
type directive struct {
	verb  string
	words []word // what follows the verb
	at    token.Pos
}

// A word is one part of a directive, with the position where it begins.
type word struct {
	text string
	at   token.Pos
}

// assignment splits NAME=VALUE; ok is false if there is no "=".
func (w word) assignment() (name string, value word, ok bool) {
	name, text, ok := strings.Cut(w.text, "=")
	return name, word{text, w.at + token.Pos(len(name)+1)}, ok
}

// directivesOf returns the //godlpack: lines of a comment.
func directivesOf(comment *ast.CommentGroup) []directive {
	if comment == nil {
		return nil
	}
	var found []directive
	for _, line := range comment.List {
		if text, ok := strings.CutPrefix(line.Text, prefix); ok {
			words := split(text, line.Pos()+token.Pos(len(prefix)))
			d := directive{at: line.Pos()}
			if len(words) > 0 && !strings.HasPrefix(text, " ") {
				d.verb, d.words = words[0].text, words[1:]
			}
			found = append(found, d)
		}
	}
	return found
}

// split splits text at blanks, except inside [] and inside "" with Go's escapes.
func split(text string, at token.Pos) []word {
	var words []word
	start, depth, quoted := -1, 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		blank := (c == ' ' || c == '\t') && depth == 0 && !quoted
		if blank && start >= 0 {
			words, start = append(words, word{text[start:i], at + token.Pos(start)}), -1
		}
		if !blank && start < 0 {
			start = i
		}
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '[' && !quoted:
			depth++
		case c == ']' && !quoted:
			depth--
		}
	}
	if start >= 0 {
		words = append(words, word{text[start:], at + token.Pos(start)})
	}
	return words
}
