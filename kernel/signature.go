package kernel

import (
	"slices"
	"strings"
)

// Signature returns the Python signature: "(a, x, axis=-1, *, like=None, out=None)". The host adds like and out to functions
// that return tensors: the framework, and the memory for the results. Functions that return a list of tensors take no out.
func (f *Func) Signature() string {
	return "(" + strings.Join(f.parts(func(p *Param) string { return p.Name + defaultText(p, "=") }, "=None"), ", ") + ")"
}

// parts returns the parts of the signature in Python's order; text is that of one parameter, none what follows the
// names that the host adds.
func (f *Func) parts(text func(*Param) string, none string) []string {
	var byPosition, byName []string
	variadic := "*"
	for i := range f.Params {
		switch p := &f.Params[i]; p.Passing {
		case Variadic:
			variadic += text(p)
		case KeywordOnly:
			byName = append(byName, text(p))
		default:
			byPosition = append(byPosition, text(p))
		}
	}
	if f.returnsTensor() {
		byName = append(byName, "like"+none)
	}
	if f.takesOut() {
		byName = append(byName, "out"+none)
	}
	if variadic != "*" || len(byName) > 0 {
		byPosition = append(byPosition, variadic)
	}
	return append(byPosition, byName...)
}

func defaultText(p *Param, equals string) string {
	if p.Default == nil || p.Passing == Variadic {
		return ""
	}
	return equals + p.Default.Text
}

func (f *Func) returnsTensor() bool {
	return slices.ContainsFunc(slices.Concat(f.Results, f.Yields, f.Awaits), func(p Param) bool { return holdsTensor(&p) })
}

// takesOut reports whether the caller can pass tensors for the results: not for lists and iterators, whose lengths are not known
// before.
func (f *Func) takesOut() bool {
	return f.returnsTensor() && f.Yields == nil && !f.Async && !slices.ContainsFunc(f.Results, func(p Param) bool { return p.Kind == KindList && holdsTensor(&p) })
}

func holdsTensor(p *Param) bool {
	return p.Kind == KindTensor || p.Kind == KindList && p.Elem != nil && p.Elem.Kind == KindTensor
}

// Docstring returns the Python docstring: the signature, Doc, the requirements of each argument, the results, and the
// exceptions for arguments that do not meet them. It does not end with a line end.
func (f *Func) Docstring() string {
	text := f.label() + f.Signature()
	if doc := strings.TrimSpace(f.Doc); doc != "" {
		text += "\n\n" + doc
	}
	params := f.Params
	if f.Bound() {
		params = params[1:]
	}
	if len(params) > 0 || f.returnsTensor() {
		text += "\n\nArgs:"
	}
	for i := range params {
		p := &params[i]
		text += "\n    " + paramText(p)
	}
	if f.returnsTensor() {
		text += "\n    like: the type, or an object, of the framework in which tensors come back" + f.likeDefault()
	}
	if f.takesOut() {
		text += "\n    out: the tensor that takes the result"
	}
	return text + f.returns() + f.raises()
}

// paramText returns a parameter's line in the docstring.
func paramText(p *Param) string {
	if want, _ := p.element(); p.Passing == Variadic {
		return "*" + p.Name + ": each " + want
	}
	if p.Default.ByFunction() {
		return p.Name + ": " + wanted(p) + notes(p) + "; has a default"
	}
	return p.Name + ": " + wanted(p) + notes(p) + defaultText(p, "; default ")
}

func (f *Func) likeDefault() string {
	if f.Like == "" {
		return ""
	}
	return "; " + f.Like + " if no argument is a tensor"
}

// notes lists the properties that an argument's type does not express.
func notes(p *Param) string {
	if p.Kind == KindList {
		return notes(p.Elem)
	}
	text := ""
	if p.Var != "" {
		text += "; dtype " + p.Var
	}
	if p.Convert {
		text += "; other dtypes are converted"
	}
	return text
}

// Wants returns the requirement of each argument, in the words of error texts: "int", "float64[n] on cpu".
func (f *Func) Wants() []string {
	texts := make([]string, len(f.Params))
	for i := range f.Params {
		texts[i] = wanted(&f.Params[i])
	}
	return texts
}

// Bound reports whether the first parameter is the object: f is a method, a getter or a setter.
func (f *Func) Bound() bool { return f.Role == Method || f.Role == Getter || f.Role == Setter }

func (f *Func) returns() string {
	if len(f.Results) == 0 || f.Role == Constructor {
		return ""
	}
	results, head := f.Results, "\n\nReturns:\n    "
	switch {
	case f.Yields != nil && f.Async:
		results, head = f.Yields, "\n\nReturns an asynchronous iterator of:\n    "
	case f.Yields != nil:
		results, head = f.Yields, "\n\nReturns an iterator of:\n    "
	case f.awaited() && len(f.Awaits) == 0:
		return "\n\nReturns a coroutine."
	case f.awaited():
		results, head = f.Awaits, "\n\nReturns a coroutine of:\n    "
	}
	texts := make([]string, len(results))
	for i := range results {
		p := results[i]
		p.Order, p.Mutable = AnyOrder, false
		texts[i] = wanted(&p) + notes(&p)
		if p.Shared {
			texts[i] += "; memory of Go, not a copy"
		}
		if p.Name != "" {
			texts[i] = p.Name + ": " + texts[i]
		}
	}
	return head + strings.Join(texts, "\n    ")
}

func (f *Func) raises() string {
	if len(f.Params) == 0 || len(f.Params) == 1 && f.Bound() {
		return ""
	}
	text := "\n\nRaises:\n    TypeError: an argument has another kind, dtype or rank"
	if slices.ContainsFunc(f.Params, hasValues) {
		text += "\n    ValueError: a number is out of range, extents disagree, or a written tensor overlaps another"
	}
	if slices.ContainsFunc(f.Params, isNumeric) {
		text += "\n    OverflowError: an integer is beyond 64 bits, or for a float beyond its range"
	}
	if slices.ContainsFunc(f.Params, func(p Param) bool { return holdsTensor(&p) }) {
		text += "\n    BufferError: memory is on another device, read-only, or has another layout"
	}
	return text
}

// isNumeric reports whether an argument is a number, or a list of numbers.
func isNumeric(p Param) bool {
	if p.Each != nil {
		return isNumeric(*p.Each)
	}
	if p.Kind == KindList {
		return isNumeric(*p.Elem)
	}
	return p.Kind == KindInt || p.Kind == KindFloat || p.Kind == KindValue
}

// hasValues reports whether an argument of the right type may still have a wrong value.
func hasValues(p Param) bool {
	if p.Each != nil {
		return hasValues(*p.Each)
	}
	if p.Kind == KindList {
		return hasValues(*p.Elem)
	}
	return p.Kind == KindInt || p.Kind == KindValue || p.Kind == KindTensor || p.Kind == KindDType || p.Kind == KindDevice
}
