package glue

import (
	"fmt"
	"slices"
	"strings"

	"godlpack/cmd/godlpack/source"
	"godlpack/kernel"
)

// callName returns the name of the function that makes the call.
func callName(fn *source.Func) string {
	if fn.Class == nil || fn.Decl.Role == kernel.Constructor && fn.Access == source.ByCall || fn.Decl.Role == kernel.Static {
		return "godlpack" + strings.ToUpper(fn.Go[:1]) + fn.Go[1:]
	}
	return "godlpack" + fn.Class.Go + "_" + string(fn.Decl.Role) + "_" + fn.Decl.Name // which no other has
}

// className returns the name of the variable that holds a class.
func className(c *source.Class) string { return "godlpack" + c.Go + "_" }

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
	switch {
	case fn.IsTask():
		f.task(fn)
		return
	case fn.Iterator != nil:
		f.line("%s := %s.NewIterator(c, %d)", f.local(fn, "godlpackIterator"), f.kernel(), fn.Iterator.Prefetch)
	case fn.Cancel:
		f.line("return %s.WithContext(c, func(%s %s.Context) error {", f.kernel(), f.local(fn, "godlpackContext"), f.use("context", "context"))
		defer f.line("})\n}")
	}
	arguments := f.arguments(fn)
	switch fn.Access {
	case source.Restore:
		f.restore(fn, arguments[0])
		return
	case source.Field:
		f.access(fn, arguments)
		return
	}
	results := names(fn.Results)
	f.invoke(fn, results, invocation(fn, arguments))
	if fn.Iterator != nil {
		f.begin(fn)
	} else {
		for i, v := range fn.Results {
			f.give(v, results[i])
		}
	}
	if results != nil || !fn.Fails {
		f.line("return nil")
	}
	if !fn.Cancel || fn.Iterator != nil {
		f.line("}")
	}
}

// names returns the names of variables for values.
func names(values []source.Value) []string {
	var all []string
	for i := range values {
		all = append(all, fmt.Sprintf("r%d", i))
	}
	return all
}

// invocation returns the call of the author's function or method.
func invocation(fn *source.Func, arguments []string) string {
	target := fn.Go
	if fn.Decl.Bound() {
		receiver := 0 // its place among the arguments
		if fn.Context || fn.Cancel {
			receiver = 1
		}
		target = arguments[receiver] + "." + fn.Go
		arguments = slices.Delete(arguments, receiver, receiver+1)
	}
	return fmt.Sprintf("%s%s(%s)", target, instance(fn), strings.Join(arguments, ", "))
}

// task writes the code that reads the arguments, and returns a task that calls the function with them.
func (f *file) task(fn *source.Func) {
	arguments := f.arguments(fn)
	context := "_"
	for i, argument := range arguments {
		if i == 0 && fn.Cancel {
			context = argument
			continue
		}
		given, variadic := strings.CutSuffix(argument, "...")
		arguments[i] = f.local(fn, fmt.Sprintf("godlpack%d", i))
		f.line("%s := %s", arguments[i], given)
		if variadic {
			arguments[i] += "..."
		}
	}
	task := f.local(fn, "godlpackTask")
	f.line("%s := %s.NewTask(c, func(%s %s.Context) (func(*%[2]s.Call), error) {", task, f.kernel(), context, f.use("context", "context"))
	results := names(fn.Awaited)
	assigned := results
	if fn.Fails {
		assigned = append(slices.Clip(results), "err")
	}
	text := invocation(fn, arguments)
	if assigned != nil {
		text = strings.Join(assigned, ", ") + " := " + text
	}
	f.line("%s", text)
	if fn.Fails {
		f.line("if err != nil {\nreturn nil, err\n}")
	}
	f.line("return func(c *%s.Call) {", f.kernel())
	for i, v := range fn.Awaited {
		f.give(v, results[i])
	}
	f.line("}, nil\n})")
	f.line("%s\nreturn nil\n}", f.result(fn.Results[0], task))
}

// begin writes the code that begins an iterator over the result r0.
func (f *file) begin(fn *source.Func) {
	var params, returns []string
	for i, v := range fn.Iterator.Lists {
		params = append(params, fmt.Sprintf("e%d %s", i, f.typeText(v.Type)))
		returns = append(returns, f.result(v, fmt.Sprintf("e%d", i)))
	}
	iterator := f.local(fn, "godlpackIterator")
	f.line("%s.%s(%s, %s(r0), func(c *%[1]s.Call, %[5]s) {", f.kernel(), fn.Iterator.Start, iterator, f.sequence(fn.Iterator), strings.Join(params, ", "))
	f.line("%s\n})", strings.Join(returns, "\n"))
	f.line("%s", f.result(fn.Results[0], iterator))
}

// sequence returns the type of the sequence that package kernel takes.
func (f *file) sequence(it *source.Iterator) string {
	var elements []string
	for _, t := range it.Elements {
		elements = append(elements, f.typeText(t))
	}
	switch it.Start {
	case "Values":
		return fmt.Sprintf("%s.Seq[%s]", f.use("iter", "iter"), elements[0])
	case "ValuesOrError":
		return fmt.Sprintf("%s.Seq2[%s, error]", f.use("iter", "iter"), elements[0])
	case "Pairs":
		return fmt.Sprintf("%s.Seq2[%s]", f.use("iter", "iter"), strings.Join(elements, ", "))
	}
	return fmt.Sprintf("(<-chan %s)", elements[0])
}

// arguments writes the code that reads the arguments, and returns their expressions.
func (f *file) arguments(fn *source.Func) []string {
	var all []string
	switch {
	case fn.Context:
		all = append(all, "c.Ctx()")
	case fn.Iterator != nil && fn.Cancel:
		all = append(all, f.local(fn, "godlpackIterator")+".Context()")
	case fn.Cancel:
		all = append(all, f.local(fn, "godlpackContext"))
	}
	f.keeps = fn.Decl.Async || fn.Iterator != nil
	for i, v := range fn.Args {
		switch {
		case v.Options != nil:
			if i == 0 || fn.Args[i-1].Options != v.Options {
				all = append(all, f.options(fn, i))
			}
		case v.Pointer:
			f.optional(v, i)
			all = append(all, fmt.Sprintf("a%d", i))
		case fn.Decl.Params[i].Passing == kernel.Variadic:
			all = append(all, f.read(v, i)+"...")
		default:
			all = append(all, f.read(v, i))
		}
	}
	return all
}

// options writes the variable of a struct whose fields are the arguments from i on, and returns the argument for it.
func (f *file) options(fn *source.Func, i int) string {
	o, name := fn.Args[i].Options, fmt.Sprintf("o%d", i)
	switch {
	case o.Defaults == "":
		f.line("var %s %s", name, o.Go)
	case o.Pointer:
		f.line("var %s %s\nif p := %s(); p != nil {\n%[1]s = *p\n}", name, o.Go, o.Defaults)
	default:
		f.line("%s := %s()", name, o.Defaults)
	}
	for ; i < len(fn.Args) && fn.Args[i].Options == o; i++ {
		v := fn.Args[i]
		byFunction := fn.Decl.Params[i].Default.ByFunction()
		if byFunction {
			f.line("if c.Passed(%d) {", i)
		}
		if v.Pointer {
			f.optional(v, i)
			f.line("%s.%s = a%d", name, v.Field, i)
		} else {
			f.line("%s.%s = %s", name, v.Field, f.read(v, i))
		}
		if byFunction {
			f.line("}")
		}
	}
	if fn.Args[i-1].OptionsPointer {
		return "&" + name
	}
	return name
}

// restore writes the code that makes an object of its binary form.
func (f *file) restore(fn *source.Func, data string) {
	f.line("p := new(%s)", fn.Class.Go)
	f.line("if err := p.UnmarshalBinary(%s); err != nil {\nreturn err\n}", data)
	f.line("%s", f.result(fn.Results[0], "p"))
	f.line("return nil\n}")
}

// access writes the code that reads or sets a field.
func (f *file) access(fn *source.Func, arguments []string) {
	field := arguments[0] + "." + fn.Go
	switch {
	case fn.Decl.Role == kernel.Getter:
		f.line("r0 := %s", field)
		f.give(fn.Results[0], "r0")
	case fn.Args[1].Form == source.Bytes: // the caller's memory
		f.line("%s = %s.Clone(%s)", field, f.use("bytes", "bytes"), arguments[1])
	default:
		f.line("%s = %s", field, arguments[1])
	}
	f.line("return nil\n}")
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
