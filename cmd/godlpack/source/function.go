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
	Args       []Value
	Results    []Value
	Fails      bool // its last result is an error, which is not in Results
}

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
	info  *types.Info
	taken map[string]token.Position // Python names that are used, and where
	fork  string                    // of the package's state directive
	like  string                    // of the package's result directive
}

// function reads a function that has directives; ok is false if it is not exported, or cannot be.
func (r *reader) function(decl *ast.FuncDecl) (fn *Func, ok bool) {
	marks := r.marks(decl)
	if marks == nil {
		return nil, false
	}
	before := len(r.found)
	signature := r.info.Defs[decl.Name].Type().(*types.Signature)
	fn = &Func{Go: decl.Name.Name, Decl: &kernel.Func{Name: r.name(decl, marks), HoldGIL: r.holdGIL(marks)}}
	fn.Decl.Doc = docOf(decl)
	r.typeParams(fn, decl, signature, marks)
	r.params(fn, decl, signature)
	r.results(fn, decl, signature)
	r.args(fn, decl, marks)
	r.resultMarks(fn, marks)
	if len(r.found) == before {
		r.dispatch(fn, decl)
		r.prepare(fn, decl)
	}
	return fn, len(r.found) == before
}

// marks returns a function's directives, or nil if it is not exported.
func (r *reader) marks(decl *ast.FuncDecl) []directive {
	marks := directivesOf(decl.Doc)
	if len(marks) == 0 {
		return nil
	}
	if i := slices.IndexFunc(marks, func(d directive) bool { return !known(d.verb) }); i >= 0 {
		r.add(marks[i].at, "%s", unknown(marks[i].verb))
		return nil
	}
	if i := slices.IndexFunc(marks, func(d directive) bool { return d.verb == "state" }); i >= 0 {
		r.add(marks[i].at, "this directive is for the whole package: write it above the package clause, or apart from functions")
		return nil
	}
	switch exports := count(marks, "export"); {
	case decl.Recv != nil:
		r.add(marks[0].at, "%s is a method, and only functions can be exported: write a function that calls it", decl.Name.Name)
	case exports == 0:
		r.add(marks[0].at, "%s has no //godlpack:export, so this directive has no effect", decl.Name.Name)
	case exports > 1 || count(marks, "gil") > 1:
		r.add(marks[len(marks)-1].at, "want export and gil at most once for each function")
	default:
		return marks
	}
	return nil
}

// prepare checks the declaration by package kernel, as the library does when it is loaded.
func (r *reader) prepare(fn *Func, decl *ast.FuncDecl) {
	fn.Decl.Do = func(*kernel.Call) error { return nil } // Do must be set; it is never called here
	ready, err := kernel.Prepare(*fn.Decl)
	if err != nil {
		r.add(decl.Name.Pos(), "%s", dlpack.MessageOf(err))
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

// name returns the Python name: the one in the directive, else the Go name in Python's style.
func (r *reader) name(decl *ast.FuncDecl, marks []directive) string {
	name, at := pythonName(decl.Name.Name), decl.Name.Pos()
	for _, d := range marks {
		if d.verb != "export" || len(d.words) == 0 {
			continue
		}
		name, at = d.words[0].text, d.words[0].at
		if len(d.words) > 1 || !isPythonName(name) {
			r.add(at, "%q is not a valid name of a Python function; want %s", restOf(d), usage("export"))
		}
	}
	if first, twice := r.taken[name]; twice {
		r.add(at, "the Python name %s is taken by the function at %s:%d; give another: //godlpack:export NAME",
			name, relative(first.Filename), first.Line)
	}
	r.taken[name] = r.fset.Position(decl.Name.Pos())
	return name
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

// docOf returns a function's comment in the style of a docstring: "Saxpy adds a*x" becomes "Adds a*x".
func docOf(decl *ast.FuncDecl) string {
	text := strings.TrimSpace(decl.Doc.Text())
	rest, ok := strings.CutPrefix(text, decl.Name.Name+" ")
	if !ok || rest == "" {
		return text
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// params reads the parameters, except the context.
func (r *reader) params(fn *Func, decl *ast.FuncDecl, signature *types.Signature) {
	if signature.Variadic() {
		r.add(decl.Type.Params.List[len(decl.Type.Params.List)-1].Pos(), "variadic parameters are not supported: take a slice")
		return
	}
	for i, id := range fields(decl.Type.Params) {
		t := signature.Params().At(i).Type()
		if i == 0 && isContext(t) {
			fn.Context = true
			continue
		}
		v := valueOf(t)
		p := kernel.Param{}
		if v.Form == None {
			r.add(id.at, "a value of type %s cannot come from Python: %s", r.typeText(t), hint(t, "take"))
		} else {
			p = r.param(fn, v, id)
		}
		p.Name = r.paramName(id, fn)
		fn.Args, fn.Decl.Params = append(fn.Args, v), append(fn.Decl.Params, p)
	}
}

// paramName returns a parameter's name in Python.
func (r *reader) paramName(id field, fn *Func) string {
	name := pythonName(id.name)
	switch {
	case id.name == "" || id.name == "_":
		r.add(id.at, "the parameter has no name, and Python needs one for keyword arguments: give it one")
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
		v := valueOf(t)
		switch {
		case isError(t):
			r.add(id.at, "an error must be the last result")
		case v.Form == None || v.Form == Callable:
			r.add(id.at, "a value of type %s cannot go to Python: %s", r.typeText(t), hint(t, "return"))
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
		r.refuseReserved(fn, decl)
	}
}

// refuseReserved refuses parameters named like and out, which Python uses for the results.
func (r *reader) refuseReserved(fn *Func, decl *ast.FuncDecl) {
	for _, id := range fields(decl.Type.Params) {
		if slices.Contains(reserved, pythonName(id.name)) {
			r.add(id.at, "%s= is reserved in Python for where tensor results go: rename the parameter", id.name)
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
