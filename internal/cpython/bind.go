package cpython

import (
	"strings"

	"godlpack/dlpack"
)

// Param is one parameter of a Python function.
type Param struct {
	Name     string
	Kind     ParamKind
	Optional bool
}

// ParamKind is the way in which an argument may be passed.
type ParamKind int

// The kinds of parameters, in the order in which Python writes them.
const (
	PositionalOnly ParamKind = iota
	Positional               // by position or by name
	KeywordOnly
)

// Signature is the parameters of a Python function, with the function's name for error texts.
type Signature struct {
	Func   string
	Params []Param
}

// Sign reads a signature as Python writes it, "empty(shape, dtype=?, *, device=?)": "/" ends the positional-only
// parameters, "*" begins the keyword-only ones, "=?" marks an optional one.
func Sign(text string) *Signature {
	name, rest, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	s := &Signature{Func: name}
	kind := Positional
	for _, word := range strings.Split(rest, ",") {
		switch word = strings.TrimSpace(word); word {
		case "":
		case "/":
			for i := range s.Params {
				s.Params[i].Kind = PositionalOnly
			}
		case "*":
			kind = KeywordOnly
		default:
			param, optional := strings.CutSuffix(word, "=?")
			s.Params = append(s.Params, Param{param, kind, optional})
		}
	}
	return s
}

// Bind returns the argument of each parameter, the zero Object for one that was not passed. The TypeErrors have Python's
// wording.
//
// Owns: the results are borrowed from the call.
func (s *Signature) Bind(c *Call) ([]Object, error) {
	bound := make([]Object, len(s.Params))
	if most := s.positional(); len(c.args) > most {
		return nil, s.error("takes at most %d positional argument%s, got %d", most, plural(most), len(c.args))
	}
	copy(bound, c.args)
	for _, k := range c.keywords {
		i := s.find(k.Name)
		if i < 0 {
			return nil, s.error("got an unexpected keyword argument '%s'", k.Name)
		}
		if bound[i].Exists() {
			return nil, s.error("got multiple values for argument '%s'", k.Name)
		}
		bound[i] = k.Value
	}
	for i, p := range s.Params {
		if !p.Optional && !bound[i].Exists() {
			return nil, s.error("missing required argument '%s'", p.Name)
		}
	}
	return bound, nil
}

func (s *Signature) positional() int {
	n := 0
	for _, p := range s.Params {
		if p.Kind != KeywordOnly {
			n++
		}
	}
	return n
}

func (s *Signature) find(name string) int {
	for i, p := range s.Params {
		if p.Name == name && p.Kind != PositionalOnly {
			return i
		}
	}
	return -1
}

func (s *Signature) error(format string, a ...any) error {
	return dlpack.Errorf(dlpack.KindType, s.Func+"() "+format, a...)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
