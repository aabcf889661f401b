package glue

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"godlpack/cmd/godlpack/source"
	"godlpack/dlpack"
	"godlpack/kernel"
)

// kinds maps each kind to its Go name.
var kinds = map[kernel.Kind]string{
	kernel.KindBool: "Bool", kernel.KindInt: "Int", kernel.KindFloat: "Float", kernel.KindString: "String",
	kernel.KindBytes: "Bytes", kernel.KindDType: "DType", kernel.KindDevice: "Device", kernel.KindCallable: "Callable",
	kernel.KindTensor: "Tensor", kernel.KindList: "List", kernel.KindObject: "Object", kernel.KindValue: "Value",
}

// roles maps each role to its Go name.
var roles = map[kernel.Role]string{
	kernel.Method: "Method", kernel.Constructor: "Constructor", kernel.Static: "Static", kernel.Getter: "Getter", kernel.Setter: "Setter",
	kernel.Next: "Next", kernel.Result: "Result", kernel.Feed: "Feed",
}

// passings maps each way of passing to its Go name.
var passings = map[kernel.Passing]string{kernel.KeywordOnly: "KeywordOnly", kernel.Variadic: "Variadic"}

// class writes the registration of a class, which precedes that of the functions: variables are initialized first.
func (f *file) class(c *source.Class) {
	f.line("")
	switch {
	case c.IsIterator():
		f.line("var %s = %s.RegisterIterators()", className(c), f.kernel())
		return
	case c.IsSequence():
		f.line("var %s = %s.RegisterSequences()", className(c), f.kernel())
		return
	case c.IsTask():
		f.line("var %s = %s.RegisterTasks()", className(c), f.kernel())
		return
	case c.OfKernel():
		return
	}
	f.line("var %s = %s.RegisterClass[%s](%s.Class{", className(c), f.kernel(), c.Go, f.kernel())
	f.line("Name: %q,", c.Decl.Name)
	if c.Decl.Doc != "" {
		f.line("Doc: %s,", docText(c.Decl.Doc))
	}
	if c.Decl.Exclusive {
		f.line("Exclusive: true,")
	}
	f.line("})")
}

// exception writes the registration of an exception.
func (f *file) exception(e *source.Exception) {
	if e.IsValue {
		f.line("%s.RegisterError(%[1]s.Exception{", f.kernel())
	} else {
		f.line("%s.RegisterErrorType[%s](%[1]s.Exception{", f.kernel(), e.Go)
	}
	f.line("Name: %q,", e.Decl.Name)
	if e.Decl.Doc != "" {
		f.line("Doc: %s,", docText(e.Decl.Doc))
	}
	f.line("Base: %q,", e.Decl.Base)
	if len(e.Decl.Fields) > 0 {
		f.line("Fields: []%s.ExceptionField{", f.kernel())
		for _, field := range e.Decl.Fields {
			f.line("{Go: %q, Name: %q, Type: %q},", field.Go, field.Name, field.Type)
		}
		f.line("},")
	}
	if e.IsValue {
		f.line("}, func() error { return %s })", e.Go)
	} else {
		f.line("})")
	}
}

// register writes the declaration of one function.
func (f *file) register(fn *source.Func) {
	f.line("%s.Register(%[1]s.Func{", f.kernel())
	f.line("Name: %q,", fn.Decl.Name)
	if fn.Class != nil {
		f.line("Class: %q,", fn.Decl.Class)
	}
	if fn.Decl.Role != kernel.FreeFunction {
		f.line("Role: %s.%s,", f.kernel(), roles[fn.Decl.Role])
	}
	if fn.Decl.Doc != "" {
		f.line("Doc: %s,", docText(fn.Decl.Doc))
	}
	f.params("Params", fn.Decl.Params, fn.Args)
	f.params("Results", fn.Decl.Results, fn.Results)
	f.params("Yields", fn.Decl.Yields, make([]source.Value, len(fn.Decl.Yields)))
	if fn.Decl.Async {
		f.line("Async: true,")
	}
	f.params("Awaits", fn.Decl.Awaits, fn.Awaited)
	if fn.Decl.HoldGIL {
		f.line("HoldGIL: true,")
	}
	if fn.Decl.Place != nil {
		offset := fmt.Sprintf("%s.Offsetof(%s{}.%s)", f.use("unsafe", "unsafe"), fn.Class.Go, fn.Go)
		f.line("Place: &%s.Place{Offset: %s, Format: %q},", f.kernel(), offset, fn.Decl.Place.Format)
	}
	if fn.Decl.Like != "" {
		f.line("Like: %q,", fn.Decl.Like)
	}
	switch fn.Decl.Role {
	case kernel.Next:
		f.line("Do: %s.Take,", f.kernel())
	case kernel.Feed:
		f.line("Do: %s.Give,", f.kernel())
	case kernel.Result:
		f.line("Do: %s.Await,", f.kernel())
	default:
		f.line("Do: %s,", callName(fn))
	}
	f.line("})")
}

// remember writes the declaration of the package's state.
func (f *file) remember() {
	s := f.pkg.State
	if s == nil {
		return
	}
	fork := map[kernel.Fork]string{kernel.ForkWarns: "ForkWarns", kernel.ForkFails: "ForkFails"}[s.Fork]
	f.line("%s.Remember(%[1]s.State{Fork: %[1]s.%s, Variables: %#v})", f.kernel(), fork, s.Variables)
}

// docText returns a comment as a Go string, one literal per line.
func docText(doc string) string {
	var quoted []string
	for line := range strings.Lines(doc) {
		quoted = append(quoted, fmt.Sprintf("%q", line))
	}
	return strings.Join(quoted, " +\n")
}

func (f *file) params(name string, params []kernel.Param, values []source.Value) {
	if len(params) == 0 {
		return
	}
	f.line("%s: []%s.Param{", name, f.kernel())
	for i, p := range params {
		f.line("{%s},", f.param(p, values[i].Default))
	}
	f.line("},")
}

// param writes the fields of one parameter that are not zero.
func (f *file) param(p kernel.Param, value any) string {
	var fields []string
	field := func(given bool, format string, a ...any) {
		if given {
			fields = append(fields, fmt.Sprintf(format, a...))
		}
	}
	field(p.Name != "", "Name: %q", p.Name)
	field(true, "Kind: %s.Kind%s", f.kernel(), kinds[p.Kind])
	if p.Each != nil {
		field(true, "Each: &%s.Param{%s}", f.kernel(), f.param(*p.Each, nil))
	}
	if p.Elem != nil {
		field(true, "Elem: &%s.Param{%s}", f.kernel(), f.param(*p.Elem, nil))
	}
	field(p.Classes != nil, "Classes: %#v", p.Classes)
	if p.Type != nil {
		text, _ := json.Marshal(p.Type) // it consists of texts and numbers
		field(true, "Type: %s.ParseType(%q)", f.kernel(), text)
	}
	field(p.Optional, "Optional: true")
	field(p.Passing != kernel.ByPosition, "Passing: %s.%s", f.kernel(), passings[p.Passing])
	switch {
	case p.Default == nil || p.Passing == kernel.Variadic:
	case p.Default.ByFunction():
		field(true, "Default: %s.DefaultByFunction()", f.kernel())
	default:
		field(true, "Default: %s.DefaultOf(%s)", f.kernel(), f.literal(value))
	}
	field(p.Bits != 0, "Bits: %d", p.Bits)
	field(p.Unsigned, "Unsigned: true")
	field(p.DTypes != nil, "DTypes: %s", f.dtypes(p.DTypes))
	field(p.Var != "", "Var: %q", p.Var)
	field(p.Shape != nil, "Shape: %s", f.shape(p.Shape))
	field(p.Order != "", "Order: %q", p.Order)
	field(p.Device != "", "Device: %q", p.Device)
	field(p.Mutable, "Mutable: true")
	field(p.Convert, "Convert: true")
	field(p.Shared, "Shared: true")
	field(p.MayOverlap, "MayOverlap: true")
	return strings.Join(fields, ", ")
}

// literal returns a default's value as a Go expression.
func (f *file) literal(value any) string {
	switch v := value.(type) {
	case nil:
		return "nil"
	case int64:
		return fmt.Sprintf("int64(%d)", v)
	case uint64:
		return fmt.Sprintf("uint64(%d)", v)
	case float64:
		return fmt.Sprintf("float64(%v)", v)
	case time.Duration:
		return fmt.Sprintf("%s.Duration(%d)", f.use("time", "time"), v)
	case dlpack.DType:
		return f.dtype(v)
	case dlpack.Device:
		return fmt.Sprintf("%s.Device{Type: %d, ID: %d}", f.dlpack(), v.Type, v.ID)
	}
	return fmt.Sprintf("%#v", value) // of Go's own types
}

func (f *file) dtypes(list kernel.DTypes) string {
	if list == nil {
		return ""
	}
	var texts []string
	for _, d := range list {
		texts = append(texts, f.item(d))
	}
	return f.kernel() + ".DTypes{" + strings.Join(texts, ", ") + "}"
}

// dtype returns a DLPack dtype as a Go expression: its name in package dlpack, if it has one.
func (f *file) dtype(d dlpack.DType) string {
	if d.Lanes != 1 {
		return f.dlpack() + ".DType" + composite(d)
	}
	base, format, _ := strings.Cut(d.String(), "_") // float8_e4m3fn is Float8E4M3FN
	base = strings.ToUpper(base[:1]) + base[1:]
	base = strings.NewReplacer("Bfloat", "BFloat", "Uint", "UInt").Replace(base)
	return f.dlpack() + "." + base + strings.ToUpper(format)
}

// item is dtype for an item of a list, where `gofmt -s` omits the type.
func (f *file) item(d dlpack.DType) string {
	if d.Lanes != 1 {
		return composite(d)
	}
	return f.dtype(d)
}

func composite(d dlpack.DType) string {
	return fmt.Sprintf("{Code: %d, Bits: %d, Lanes: %d}", d.Code, d.Bits, d.Lanes)
}

func (f *file) shape(shape []kernel.Extent) string {
	var texts []string
	for _, extent := range shape {
		texts = append(texts, fmt.Sprintf("%q", extent))
	}
	return fmt.Sprintf("[]%s.Extent{%s}", f.kernel(), strings.Join(texts, ", "))
}
