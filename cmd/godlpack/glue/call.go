package glue

import (
	"fmt"
	"slices"
	"strings"

	"godlpack/cmd/godlpack/source"
)

// callName returns the name of the function that makes the call.
func callName(fn *source.Func) string { return "godlpack" + strings.ToUpper(fn.Go[:1]) + fn.Go[1:] }

// call writes the function that calls the author's function with a call's arguments.
func (f *file) call(fn *source.Func) {
	f.line("")
	f.line("// %s calls %s with the arguments of a call from outside.", callName(fn), fn.Go)
	if len(fn.TypeParams) == 0 {
		f.line("func %s(c *%s.Call) error {", callName(fn), f.kernel())
		f.body(fn)
		return
	}
	f.dispatch(fn)
	f.line("")
	f.line("func %sOf[%s](c *%s.Call) error {", callName(fn), f.typeParams(fn), f.kernel())
	f.body(fn)
}

// dispatch writes the switches that choose an instance by the dtypes that the declaration allows. They are nested and switch
// on numbers, so that each takes only a few comparisons, for any number of instances.
func (f *file) dispatch(fn *source.Func) {
	f.line("func %s(c *%s.Call) error {", callName(fn), f.kernel())
	f.choose(fn, nil)
	f.line(`panic("%s: no instance for the dtypes that its declaration allows")`, fn.Decl.Name)
	f.line("}")
}

// choose writes the switch over the types of the first type parameter that is not yet chosen.
func (f *file) choose(fn *source.Func, chosen []string) {
	if len(chosen) == len(fn.TypeParams) {
		f.line("return %sOf[%s](c)", callName(fn), strings.Join(chosen, ", "))
		return
	}
	p := fn.TypeParams[len(chosen)]
	f.line("switch c.TypeOf(%d).Key() {", p.Arg)
	for _, e := range p.Elements {
		f.line("case %#08x: // %s", e.DType.Key(), e.DType)
		f.choose(fn, append(slices.Clone(chosen), f.typeText(e.Go)))
	}
	f.line("}")
}

func (f *file) typeParams(fn *source.Func) string {
	var parts []string
	for _, p := range fn.TypeParams {
		parts = append(parts, p.Name+" "+f.typeText(p.Constraint))
	}
	return strings.Join(parts, ", ")
}

// body writes the call itself, and the code that returns its results.
func (f *file) body(fn *source.Func) {
	var arguments []string
	if fn.Context {
		arguments = append(arguments, "c.Ctx()")
	}
	for i, v := range fn.Args {
		if v.Pointer {
			f.optional(v, i)
			arguments = append(arguments, fmt.Sprintf("a%d", i))
		} else {
			arguments = append(arguments, f.read(v, i))
		}
	}
	var results []string
	for i := range fn.Results {
		results = append(results, fmt.Sprintf("r%d", i))
	}
	f.invoke(fn, results, fmt.Sprintf("%s%s(%s)", fn.Go, instance(fn), strings.Join(arguments, ", ")))
	for i, v := range fn.Results {
		f.give(v, results[i])
	}
	if results != nil || !fn.Fails {
		f.line("return nil")
	}
	f.line("}")
}

// instance returns the list of type arguments, since Go cannot infer all of them.
func instance(fn *source.Func) string {
	var names []string
	for _, p := range fn.TypeParams {
		names = append(names, p.Name)
	}
	if names == nil {
		return ""
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// invoke writes the call, and the return of its error.
func (f *file) invoke(fn *source.Func, results []string, call string) {
	switch {
	case fn.Fails && len(results) == 0:
		f.line("return %s", call)
	case fn.Fails:
		f.line("%s, err := %s\nif err != nil {\nreturn err\n}", strings.Join(results, ", "), call)
	case len(results) == 0:
		f.line("%s", call)
	default:
		f.line("%s := %s", strings.Join(results, ", "), call)
	}
}

// optional writes the variable of an argument that is a pointer, nil for None.
func (f *file) optional(v source.Value, i int) {
	f.line("var a%d *%s", i, f.typeText(v.Type))
	f.line("if c.Given(%d) {\nv := %s\na%[1]d = &v\n}", i, f.read(v, i))
}

// give writes the statement that returns a result.
func (f *file) give(v source.Value, name string) {
	if !v.Pointer {
		f.line("%s", f.result(v, name))
		return
	}
	f.line("if %s != nil {\n%s\n} else {\nc.ReturnNone()\n}", name, f.result(v, "*"+name))
}
