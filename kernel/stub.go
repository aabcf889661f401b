package kernel

import "strings"

// StubImports are the lines that stubs of functions need at the top of their file.
const StubImports = "from collections.abc import Callable, Sequence\nfrom typing import Any\n\nfrom godlpack.typing import TensorLike\n"

// Stub returns the function's definition for a .pyi file, with its docstring and a line end. It is not indented, also in a class.
func (f *Func) Stub() string {
	parts := f.parts(stubOfParam, ": Any = None")
	switch {
	case f.Role == Constructor:
		parts = append([]string{"self"}, parts...)
	case f.Bound():
		parts[0] = "self"
	}
	before, result := "", f.resultHint()
	switch f.Role {
	case Static:
		before = "@staticmethod\n"
	case Getter:
		before = "@property\n"
	case Setter:
		before = "@" + f.Name + ".setter\n"
	case Constructor:
		result = "None"
	}
	doc := strings.ReplaceAll(strings.ReplaceAll(StubDoc(f.Docstring()), "\n", "\n    "), "\n    \n", "\n\n")
	if f.awaited() {
		before += "async "
	}
	return before + "def " + f.Name + "(" + strings.Join(parts, ", ") + ") -> " + result + ":\n    " + strings.TrimSuffix(doc, "    ")
}

func stubOfParam(p *Param) string {
	if _, elem := p.element(); p.Passing == Variadic {
		return p.Name + ": " + elem
	}
	return p.Name + ": " + hint(p, true) + defaultText(p, " = ")
}

// element returns what an element of a list must be, and its type hint; "" if the parameter is no list.
func (p *Param) element() (want, elem string) {
	switch {
	case p.Kind == KindList && p.Elem != nil:
		return wanted(p.Elem), hint(p.Elem, true)
	case p.Kind == KindValue && p.Type != nil && p.Type.Kind == TypeList && p.Type.Len == 0:
		return p.Type.Elem.wanted(), p.Type.Elem.hint(true)
	}
	return "", ""
}

// StubDoc returns a docstring for a .pyi file, with a line end, to be indented by its place.
func StubDoc(doc string) string {
	doc = strings.ReplaceAll(doc, `\`, `\\`)
	doc = strings.ReplaceAll(doc, `"""`, `\"\"\"`)
	if strings.HasSuffix(doc, `"`) {
		doc += " "
	}
	return `"""` + doc + `"""` + "\n"
}

func (f *Func) resultHint() string {
	switch {
	case f.Yields != nil && f.Async:
		return "AsyncIterator[" + hintOf(f.Yields) + "]"
	case f.Yields != nil:
		return "Iterator[" + hintOf(f.Yields) + "]"
	case f.awaited():
		return hintOf(f.Awaits)
	}
	return hintOf(f.Results)
}

// awaited reports whether the function returns a Task.
func (f *Func) awaited() bool { return f.Async && f.Yields == nil }

// hintOf returns the Python type of values that are returned together.
func hintOf(results []Param) string {
	if len(results) == 0 {
		return "None"
	}
	hints := make([]string, len(results))
	for i := range results {
		hints[i] = hint(&results[i], false)
	}
	if len(hints) == 1 {
		return hints[0]
	}
	return "tuple[" + strings.Join(hints, ", ") + "]"
}

// hints maps kinds to Python types. A result tensor is of any framework, which only the call decides; a dtype or a device is
// any object that names one.
var hints = map[Kind]string{
	KindBool: "bool", KindInt: "int", KindFloat: "float", KindString: "str", KindBytes: "bytes", KindDType: "Any",
	KindDevice: "Any", KindCallable: "Callable[..., Any]", KindTensor: "Any",
}

// hint returns the Python type of an argument or a result.
func hint(p *Param, argument bool) string {
	text := hints[p.Kind]
	switch {
	case p.Kind == KindObject:
		text = strings.Join(p.Classes, " | ")
	case p.Kind == KindValue:
		text = p.Type.hint(argument)
	case p.Each != nil:
		text = "Iterable[" + hint(p.Each, argument) + "]"
	case p.Kind == KindTensor && argument:
		text = "TensorLike"
	case p.Kind == KindList && argument && (p.Elem.Kind == KindInt || p.Elem.Kind == KindFloat || p.Elem.Kind == KindBool):
		text = "Sequence[" + hint(p.Elem, argument) + "] | TensorLike"
	case p.Kind == KindList && argument:
		text = "Sequence[" + hint(p.Elem, argument) + "]"
	case p.Kind == KindList:
		text = "list[" + hint(p.Elem, argument) + "]"
	}
	if p.Optional && text != "Any" && !strings.HasSuffix(text, " | None") {
		text += " | None"
	}
	return text
}
