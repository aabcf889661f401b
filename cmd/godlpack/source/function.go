package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// A Func is one exported function, which Python can call.
type Func struct {
	Go         string       // its name in Go
	Decl       *kernel.Func // its declaration for Python
	TypeParams []TypeParam
	Context    bool // its first parameter is a *kernel.Ctx, which is not in Args
	Cancel     bool // its first parameter is a context.Context, which is not in Args
	Args       []Value
	Results    []Value
	Fails      bool      // its last result is an error, which is not in Results
	Iterator   *Iterator // its result; nil if it is another
	Awaited    []Value   // the results of the task that is its result
	Class      *Class    // that it belongs to; nil for a function alone
	Access     Access

	at token.Pos
}

// Access is how the glue reaches a function's code.
type Access int

// The ways: by a call of Go, as the field of that name, or by a new object that UnmarshalBinary fills.
const (
	ByCall Access = iota
	Field
	Restore
)

// A TypeParam is a type parameter; at each call, the dtype of an argument determines its type.
type TypeParam struct {
	Name       string
	Constraint types.Type
	Elements   []Element // the types that are compiled
	Arg        int       // the argument whose dtype determines the type
}

// A reader reads the functions of one package.
type reader struct {
	reporter
	info        *types.Info
	pkg         *types.Package
	taken       map[string]token.Position // Python names that are used, and where
	fork        string                    // of the package's state directive
	like        string                    // of the package's result directive
	classes     []*Class
	errors      []*Exception
	enums       []*Enum
	records     []*types.Named
	docs        map[types.Object]string // of the package's types, as docstrings
	shifts      map[types.Type]bool     // types with constants such as 1 << iota
	optionTypes []*Options
	read        map[*ast.CommentGroup]bool // comments whose directives were read
}

// function reads a function that has directives; ok is false if it is not exported, or cannot be.
func (r *reader) function(decl *ast.FuncDecl) (fn *Func, ok bool) {
	marks := directivesOf(decl.Doc)
	if len(marks) == 0 || !r.checkMarks(decl, marks, "export", "new") {
		return nil, false
	}
	if count(marks, "new") == 0 {
		return r.callable(decl, marks, nil, kernel.FreeFunction)
	}
	signature := r.info.Defs[decl.Name].Type().(*types.Signature)
	var c *Class
	if n := signature.Results().Len(); n > 0 {
		if _, pointer := types.Unalias(signature.Results().At(0).Type()).(*types.Pointer); pointer {
			c = r.classOf(signature.Results().At(0).Type())
		}
		if n > 2 || n == 2 && !isError(signature.Results().At(1).Type()) {
			c = nil
		}
	}
	if c == nil {
		r.add(decl.Name.Pos(), "a constructor returns a pointer to an exported type, or that and an error")
		return nil, false
	}
	return r.callable(decl, marks, c, kernel.Constructor)
}

// callable reads a function or a method, with its role in a class.
func (r *reader) callable(decl *ast.FuncDecl, marks []directive, c *Class, role kernel.Role) (fn *Func, ok bool) {
	before := len(r.found)
	signature := r.info.Defs[decl.Name].Type().(*types.Signature)
	fn = &Func{Go: decl.Name.Name, Class: c, at: decl.Name.Pos(), Decl: &kernel.Func{Role: role, HoldGIL: r.holdGIL(marks)}}
	if c != nil {
		fn.Decl.Class = c.Decl.Name
	}
	r.setName(fn, decl, marks)
	fn.Decl.Doc = docstring(decl.Doc, decl.Name.Name)
	r.typeParams(fn, decl, signature, marks)
	r.params(fn, decl, signature)
	r.results(fn, decl, signature)
	r.args(fn, marks)
	r.resultMarks(fn, marks)
	r.prefetch(fn, marks)
	r.checkIterator(fn)
	r.async(fn, marks)
	if fn.Cancel && fn.Decl.HoldGIL {
		r.add(fn.at, "a function that takes a context.Context runs in a goroutine of its own, so it cannot keep the GIL: remove gil hold, or the context")
	}
	if role == kernel.Setter {
		for i := range fn.Args {
			fn.Decl.Params[i].Optional = fn.Decl.Params[i].Optional || fn.Args[i].Form == Object || fn.Args[i].Form == Interface
		}
	}
	if fn.Decl.Bound() {
		fn.bind()
	}
	if len(r.found) == before {
		r.dispatch(fn, decl)
		r.prepare(fn, decl.Name.Pos())
	}
	return fn, len(r.found) == before
}

// mainVerbs are the directives that export a function, as is async alone.
var mainVerbs = []string{"export", "new", "get", "set"}

// checkMarks checks the directives of a function or a method, one of which must be among the given main ones.
func (r *reader) checkMarks(decl *ast.FuncDecl, marks []directive, main ...string) bool {
	if i := slices.IndexFunc(marks, func(d directive) bool { return !known(d.verb) }); i >= 0 {
		r.add(marks[i].at, "%s", unknown(marks[i].verb))
		return false
	}
	if i := slices.IndexFunc(marks, func(d directive) bool { return d.verb == "state" }); i >= 0 {
		r.add(marks[i].at, "this directive is for the whole package: write it above the package clause, or apart from functions")
		return false
	}
	found := 0
	for _, verb := range mainVerbs {
		n := count(marks, verb)
		if n > 0 && !slices.Contains(main, verb) {
			r.add(marks[slices.IndexFunc(marks, func(d directive) bool { return d.verb == verb })].at, "%s", map[string]string{
				"new": "a constructor is a function, not a method", "get": "an attribute's getter is a method", "set": "an attribute's setter is a method",
			}[verb])
			return false
		}
		found += n
	}
	switch {
	case found == 0 && count(marks, "async") > 0 && slices.Contains(main, "export"):
		return true
	case found == 0:
		r.add(marks[0].at, "%s has no //godlpack:export, so this directive has no effect", decl.Name.Name)
	case found > 1 || count(marks, "gil") > 1:
		r.add(marks[len(marks)-1].at, "want one of %s, and gil, at most once for each function", strings.Join(main, ", "))
	default:
		return true
	}
	return false
}

// prepare checks the declaration by package kernel, as the library does when it is loaded.
func (r *reader) prepare(fn *Func, at token.Pos) {
	fn.Decl.Do = func(*kernel.Call) error { return nil } // Do must be set; it is never called here
	ready, err := kernel.Prepare(*fn.Decl)
	if err != nil {
		r.add(at, "%s", dlpack.MessageOf(err))
		return
	}
	fn.Decl = ready
}

func count(marks []directive, verb string) int {
	n := 0
	for _, d := range marks {
		if d.verb == verb {
			n++
		}
	}
	return n
}

// setName sets the Python name: the one in the directive, else the Go name in Python's style. The name of a function may have
// a class before a dot: then it is a static method.
func (r *reader) setName(fn *Func, decl *ast.FuncDecl, marks []directive) {
	name, at := pythonName(strings.TrimPrefix(decl.Name.Name, map[kernel.Role]string{kernel.Getter: "Get", kernel.Setter: "Set"}[fn.Decl.Role])), decl.Name.Pos()
	named := false
	for _, d := range marks {
		if len(d.words) == 0 || d.verb != "async" && !slices.Contains(mainVerbs, d.verb) {
			continue
		}
		if named {
			r.add(d.words[0].at, "the function has a name already: write it in one directive")
		}
		named = true
		name, at = d.words[0].text, d.words[0].at
		if class, rest, dotted := strings.Cut(name, "."); dotted && (d.verb == "export" || d.verb == "async") && fn.Class == nil {
			i := slices.IndexFunc(r.classes, func(c *Class) bool { return c.Decl.Name == class })
			if i >= 0 {
				fn.Class, fn.Decl.Class, fn.Decl.Role, name = r.classes[i], class, kernel.Static, rest
			}
		}
		if len(d.words) > 1 || !isPythonName(name) || d.verb == "new" {
			r.add(at, "%q is not a valid name of a Python function; want %s", restOf(d), usage(d.verb))
		}
	}
	if fn.Decl.Role == kernel.Constructor {
		name = "__init__"
	}
	fn.Decl.Name = name
	if fn.Class == nil {
		if slices.Contains(stubNames, name) {
			r.add(at, "%q is a name that type stubs import: give the function another, //godlpack:export NAME", name)
		}
		r.take(name, at)
	}
}

func restOf(d directive) string {
	var texts []string
	for _, w := range d.words {
		texts = append(texts, w.text)
	}
	return strings.Join(texts, " ")
}

func (r *reader) holdGIL(marks []directive) bool {
	hold := false
	for _, d := range marks {
		if d.verb != "gil" {
			continue
		}
		hold = restOf(d) == "hold"
		if !hold {
			r.add(d.at, "want %s; without it, other Python threads run during the call", usage("gil"))
		}
	}
	return hold
}

// params reads the parameters, except the context.
func (r *reader) params(fn *Func, decl *ast.FuncDecl, signature *types.Signature) {
	all := fields(decl.Type.Params)
	for i, id := range all {
		t := signature.Params().At(i).Type()
		if i == 0 && isContext(t) {
			fn.Context = true
			continue
		}
		if name, _ := nameOf(t); i == 0 && name == "context.Context" {
			fn.Cancel = true
			continue
		}
		if o := r.optionsOf(t); o != nil {
			r.optionParams(fn, o, t, id)
			continue
		}
		v := r.valueOf(t)
		v.id = id
		p := kernel.Param{}
		if s, each, ok := r.sequence(fn, t, id); ok {
			v, p = s, each
		} else if v.Form == None {
			r.add(id.at, "a value of type %s cannot come from Python: %s", r.typeText(t), r.hint(t, "take"))
		} else {
			p = r.param(fn, v, id)
		}
		p.Name = r.paramName(id, fn)
		if signature.Variadic() && i == len(all)-1 {
			p.Passing = kernel.Variadic
		}
		if v.Form == Bytes && p.Passing == kernel.Variadic {
			r.add(id.at, "bytes cannot be variadic: take a []byte, or strings")
		}
		fn.Args, fn.Decl.Params = append(fn.Args, v), append(fn.Decl.Params, p)
	}
}

// paramName returns a parameter's name in Python.
func (r *reader) paramName(id field, fn *Func) string {
	name := pythonName(id.name)
	switch {
	case id.name == "" || id.name == "_":
		r.add(id.at, "the parameter has no name, and Python needs one for keyword arguments: give it one")
	case name == "self" && fn.Class != nil:
		r.add(id.at, "self is the object in Python: call the parameter something else")
	case !isPythonName(name):
		r.add(id.at, "%q is not a valid name in Python: use letters a to z, digits and _", id.name)
	case slices.ContainsFunc(fn.Decl.Params, func(p kernel.Param) bool { return p.Name == name }):
		r.add(id.at, "two parameters have the name %s in Python", name)
	}
	return name
}

// results reads the results, except an error at the end.
func (r *reader) results(fn *Func, decl *ast.FuncDecl, signature *types.Signature) {
	all := fields(decl.Type.Results)
	for i, id := range all {
		t := signature.Results().At(i).Type()
		if isError(t) && i == len(all)-1 {
			fn.Fails = true
			continue
		}
		if r.iterator(fn, t, id) {
			continue
		}
		v := r.valueOf(t)
		switch {
		case isError(t):
			r.add(id.at, "an error must be the last result")
		case v.Form == None || v.Form == Callable:
			r.add(id.at, "a value of type %s cannot go to Python: %s", r.typeText(t), r.hint(t, "return"))
		default:
			p := r.param(fn, v, id)
			p.Mutable = false
			if p.Elem != nil {
				p.Elem.Mutable = false
			}
			fn.Results, fn.Decl.Results = append(fn.Results, v), append(fn.Decl.Results, p)
		}
	}
	if slices.ContainsFunc(fn.Results, Value.holdsTensor) {
		r.refuseReserved(fn)
	}
}

// refuseReserved refuses parameters named like and out, which Python uses for the results.
func (r *reader) refuseReserved(fn *Func) {
	for i, p := range fn.Decl.Params {
		if slices.Contains(reserved, p.Name) {
			r.add(fn.Args[i].id.at, "%s= is reserved in Python for where tensor results go: rename the parameter", p.Name)
		}
	}
}

// A field is one parameter or result in the source.
type field struct {
	name string
	at   token.Pos
}

// fields lists the parameters or results one by one: "a, b float32" is two.
func fields(list *ast.FieldList) []field {
	if list == nil {
		return nil
	}
	var all []field
	for _, f := range list.List {
		if len(f.Names) == 0 {
			all = append(all, field{at: f.Pos()})
		}
		for _, id := range f.Names {
			all = append(all, field{id.Name, id.Pos()})
		}
	}
	return all
}

// typeText returns a type as the author writes it: "tensor.Of[float32]".
func (r *reader) typeText(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
