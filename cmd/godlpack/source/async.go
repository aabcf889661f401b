package source

import (
	"slices"
	"strings"

	"godlpack/kernel"
)

// taskClass and notifierClass are classes of package kernel, in each library that has async functions. No type of an author has
// their names in Go.
var (
	taskClass     = &Class{Go: "0Task", Decl: kernel.Class{Name: kernel.TaskClass}}
	notifierClass = &Class{Go: "0Notifier", Decl: kernel.Class{Name: kernel.NotifierClass}}
)

// OfKernel reports whether c is a class that package kernel has, which Python code does not see.
func (c *Class) OfKernel() bool {
	return c == iteratorClass || c == sequenceClass || c == taskClass || c == notifierClass
}

// IsTask reports whether c is the class of tasks.
func (c *Class) IsTask() bool { return c == taskClass }

// async applies the //godlpack:async directive. A function that returns no iterator then returns a task, and its own results
// become those of another function.
func (r *reader) async(fn *Func, marks []directive) {
	i := slices.IndexFunc(marks, func(d directive) bool { return d.verb == "async" })
	if i < 0 {
		return
	}
	switch at := marks[i].at; {
	case count(marks, "async") > 1:
		r.add(at, "want async at most once for each function")
	case fn.Decl.Role != kernel.FreeFunction && fn.Decl.Role != kernel.Method && fn.Decl.Role != kernel.Static:
		r.add(at, "async is for functions and methods: Python cannot await a constructor or an attribute")
	case isSpecial(fn.Decl.Name) && !slices.Contains(awaitable, fn.Decl.Name):
		r.add(at, "%s is not awaited in Python: remove async, or give the method another name", fn.Decl.Name)
	case fn.Decl.HoldGIL:
		r.add(at, "an async function runs in a goroutine of its own, so it cannot keep the GIL: remove gil hold, or async")
	}
	fn.Decl.Async = true
	if fn.Iterator != nil {
		return
	}
	r.checkLater(fn, "an async function runs")
	fn.Awaited, fn.Decl.Awaits = fn.Results, fn.Decl.Results
	v := Value{Form: Object, Classes: []*Class{taskClass}}
	fn.Results, fn.Decl.Results = []Value{v}, []kernel.Param{{Kind: kernel.KindObject, Classes: v.classNames()}}
}

// awaitable are Python's special methods that may be coroutine functions.
var awaitable = []string{"__call__", "__aenter__", "__aexit__", "__aiter__", "__anext__"}

func isSpecial(name string) bool {
	return strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

// IsTask reports whether the function returns a task.
func (fn *Func) IsTask() bool { return fn.Decl.Async && fn.Iterator == nil }

// Take returns the function by which Python takes the results of fn's task.
func (fn *Func) Take() *Func {
	take := &Func{Class: fn.Class, at: fn.at, Fails: true, Results: fn.Awaited}
	take.Args = []Value{{Form: Object, Classes: []*Class{taskClass}}}
	params := []kernel.Param{{Name: "task", Kind: kernel.KindObject, Classes: []string{kernel.TaskClass}}}
	take.Decl = &kernel.Func{Name: fn.Decl.Name, Class: fn.Decl.Class, Role: kernel.Result, Params: params, Like: fn.Decl.Like}
	for _, p := range fn.Decl.Awaits {
		take.Decl.Results = append(take.Decl.Results, alone(p))
	}
	return take
}

// alone returns the declaration of a result without what only the arguments of its own call decide.
func alone(p kernel.Param) kernel.Param {
	p.Name, p.Var, p.Shape = "", "", slices.Clone(p.Shape)
	for i, extent := range p.Shape {
		if identifier.MatchString(string(extent)) {
			p.Shape[i] = "*"
		}
	}
	if p.Elem != nil {
		elem := alone(*p.Elem)
		p.Elem = &elem
	}
	return p
}

// taskFuncs returns the methods of tasks and notifiers, which package kernel registers.
func taskFuncs() []*Func {
	var all []*Func
	for _, decl := range kernel.TaskFuncs() {
		class := taskClass
		if decl.Class == kernel.NotifierClass {
			class = notifierClass
		}
		all = append(all, &Func{Class: class, Decl: &decl})
	}
	return all
}

// Generated reports whether the glue has code for the function: package kernel has that of its own.
func (fn *Func) Generated() bool { return fn.Class == nil || !fn.Class.OfKernel() }
