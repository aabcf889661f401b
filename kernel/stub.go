package kernel

import "strings"

// StubImports are the lines that stubs of functions need at the top of their file.
const StubImports = "from collections.abc import Callable, Sequence\nfrom typing import Any\n\nfrom godlpack.typing import TensorLike\n"

// Stub returns the function's definition for a .pyi file, with its docstring and a line end.
func (f *Func) Stub() string {
	parts := make([]string, 0, len(f.Params)+3)
	for i := range f.Params {
		p := &f.Params[i]
		parts = append(parts, p.Name+": "+hint(p, true)+defaultText(p, " = "))
	}
	if f.returnsTensor() {
		parts = append(parts, "*", "like: Any = None")
	}
	if f.takesOut() {
		parts = append(parts, "out: Any = None")
	}
	doc := strings.ReplaceAll(f.Docstring(), `\`, `\\`)
	doc = strings.ReplaceAll(doc, `"""`, `\"\"\"`)
	if strings.HasSuffix(doc, `"`) {
		doc += " "
	}
	doc = strings.ReplaceAll(strings.ReplaceAll(doc, "\n", "\n    "), "\n    \n", "\n\n")
	return "def " + f.Name + "(" + strings.Join(parts, ", ") + ") -> " + f.resultHint() + ":\n    \"\"\"" + doc + "\"\"\"\n"
}

func (f *Func) resultHint() string {
	if len(f.Results) == 0 {
		return "None"
	}
	hints := make([]string, len(f.Results))
	for i := range f.Results {
		hints[i] = hint(&f.Results[i], false)
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
	case p.Kind == KindTensor && argument:
		text = "TensorLike"
	case p.Kind == KindList && argument:
		text = "Sequence[" + hint(p.Elem, argument) + "]"
	case p.Kind == KindList:
		text = "list[" + hint(p.Elem, argument) + "]"
	}
	if p.Optional && text != "Any" {
		text += " | None"
	}
	return text
}
