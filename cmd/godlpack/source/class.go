package source

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"godlpack/kernel"
)

// A Class is one exported type, which is a class in Python.
type Class struct {
	Go     string // its name in Go
	Decl   kernel.Class
	Makers []string // functions that return its objects, where there is no constructor

	named  *types.Named
	fields *ast.FieldList // of a struct
}

// readTypes reads the exported types and errors of all files, before the functions that use them.
func (r *reader) readTypes(files []*ast.File) {
	r.readNames(files)
	for _, file := range files {
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					r.exportedType(spec, commentOf(group, spec.Doc))
				case *ast.ValueSpec:
					r.errorValue(spec, commentOf(group, spec.Doc))
				}
			}
		}
	}
}

// readNames reads what other declarations say about types: their comments, and whether their constants are bits.
func (r *reader) readNames(files []*ast.File) {
	for _, file := range files {
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					r.docs[r.info.Defs[spec.Name]] = docstring(commentOf(group, spec.Doc), spec.Name.Name)
				case *ast.ValueSpec:
					r.readShifts(group, spec)
				}
			}
		}
	}
}

// readShifts records the types of constants such as 1 << iota.
func (r *reader) readShifts(group *ast.GenDecl, spec *ast.ValueSpec) {
	for i, value := range spec.Values {
		if binary, ok := value.(*ast.BinaryExpr); ok && binary.Op == token.SHL && group.Tok == token.CONST {
			r.shifts[r.info.Defs[spec.Names[i]].Type()] = true
		}
	}
}

// commentOf returns the comment of a declaration, which stands above its group if it is alone there.
func commentOf(group *ast.GenDecl, own *ast.CommentGroup) *ast.CommentGroup {
	if own == nil && len(group.Specs) == 1 {
		return group.Doc
	}
	return own
}

// exportedType reads one type, if it is exported: an error becomes an exception, any other type a class.
func (r *reader) exportedType(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	marks := directivesOf(doc)
	if len(marks) == 0 {
		return
	}
	r.read[doc] = true
	if named, ok := r.info.Defs[spec.Name].Type().(*types.Named); ok && spec.TypeParams == nil && !types.IsInterface(named) && isErrorType(named) {
		r.errorType(spec, named, doc, marks)
		return
	}
	if named, ok := r.info.Defs[spec.Name].Type().(*types.Named); ok && spec.Assign == 0 && marks[0].verb == "options" {
		r.options(spec, named, marks)
		return
	}
	if named, ok := r.info.Defs[spec.Name].Type().(*types.Named); ok && spec.Assign == 0 && r.enum(spec, named, doc, marks) {
		return
	}
	r.class(spec, doc, marks)
}

// class reads one exported type that is no error.
func (r *reader) class(spec *ast.TypeSpec, doc *ast.CommentGroup, marks []directive) {
	isExclusive := func(d directive) bool { return d.verb == "exclusive" && len(d.words) == 0 }
	exclusive := slices.ContainsFunc(marks, isExclusive)
	if marks = slices.DeleteFunc(slices.Clone(marks), isExclusive); len(marks) == 0 {
		r.add(spec.Pos(), "an exclusive type is exported, too: write //godlpack:export above it")
		return
	}
	for _, d := range marks {
		if d.verb != "export" || len(d.words) > 1 {
			r.add(d.at, "above a type, want //godlpack:export [PythonName], and //godlpack:exclusive")
			return
		}
	}
	named, ok := r.info.Defs[spec.Name].Type().(*types.Named)
	switch {
	case len(marks) > 1:
		r.add(marks[1].at, "export is said once a type")
		return
	case spec.Assign != 0 || !ok:
		r.add(spec.Pos(), "%s is another name of a type: export the type itself, or define a new type", spec.Name.Name)
		return
	case spec.TypeParams != nil:
		r.add(spec.Pos(), "%s has type parameters: define a type for each instance, such as type %[1]sFloat32 struct{ %[1]s[float32] }", spec.Name.Name)
		return
	case types.IsInterface(named):
		r.add(spec.Pos(), "%s is an interface, and objects are of the types that implement it: export these; parameters of type %[1]s then take them", spec.Name.Name)
		return
	}
	c := &Class{Go: spec.Name.Name, Decl: kernel.Class{Name: r.className(spec, marks[0]), Doc: docstring(doc, spec.Name.Name), Exclusive: exclusive}, named: named}
	if s, ok := spec.Type.(*ast.StructType); ok {
		c.fields = s.Fields
		for _, f := range c.fields.List {
			r.read[f.Doc], r.read[f.Comment] = true, true
		}
	}
	r.classes = append(r.classes, c)
}

// stubNames are names that type stubs import.
var stubNames = []string{
	"Any", "AsyncIterator", "Callable", "IntEnum", "IntFlag", "Iterable", "Iterator", "Mapping", "NamedTuple", "Object", "Self", "Sequence", "StrEnum", "TensorLike", "_Iterator", "_Notifier", "_Sequence", "_Task",
	"datetime", "timedelta",
}

// className returns the name of the class in Python: the one in the directive, else Go's with a capital.
func (r *reader) className(spec *ast.TypeSpec, mark directive) string {
	name, at := strings.ToUpper(spec.Name.Name[:1])+spec.Name.Name[1:], spec.Pos()
	if len(mark.words) == 1 {
		name, at = mark.words[0].text, mark.words[0].at
	}
	if !isPythonName(name) || slices.Contains(stubNames, name) || slices.Contains(builtinNames, name) {
		r.add(at, "%q cannot be the name of a Python class: give another, //godlpack:export NAME", name)
	}
	r.take(name, at)
	return name
}

// take records a name in the module, and reports one that is taken.
func (r *reader) take(name string, at token.Pos) {
	if first, twice := r.taken[name]; twice {
		r.add(at, "the Python name %s is taken at %s:%d; give another: //godlpack:export NAME", name, relative(first.Filename), first.Line)
	}
	r.taken[name] = r.fset.Position(at)
}

// classOf returns the exported class of a type or a pointer to it; nil if it is none.
func (r *reader) classOf(t types.Type) *Class {
	t = types.Unalias(t)
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	for _, c := range r.classes {
		if types.Identical(c.named, t) {
			return c
		}
	}
	return nil
}

// implementing returns the classes whose objects implement an interface with methods.
func (r *reader) implementing(t types.Type) []*Class {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.Empty() || !i.IsMethodSet() || isTypeParam(t) || isError(t) {
		return nil
	}
	var found []*Class
	for _, c := range r.classes {
		if types.Implements(types.NewPointer(c.named), i) {
			found = append(found, c)
		}
	}
	return found
}

// valueOf is the function valueOf, with the package's classes.
func (r *reader) valueOf(t types.Type) Value {
	t = types.Unalias(t)
	if _, pointer := t.(*types.Pointer); pointer {
		if c := r.classOf(t); c != nil {
			return Value{Form: Object, Type: c.named, Classes: []*Class{c}}
		}
	}
	if classes := r.implementing(t); classes != nil {
		return Value{Form: Interface, Type: t, Classes: classes}
	}
	if slice, ok := t.Underlying().(*types.Slice); ok && !isSlice(slice.Elem()) {
		if items := r.valueOf(slice.Elem()); items.Form == Object || items.Form == Interface {
			return Value{Form: List, Type: t, Items: &items}
		}
	}
	v := valueOf(t)
	if v.Form == None || r.holdsEnum(t) {
		if described, _ := r.describe(t); described != nil {
			return Value{Form: Tree, Type: t, Schema: described}
		}
	}
	return v
}

// hint is the function hint, for a type that may be exported.
func (r *reader) hint(t types.Type, verb string) string {
	if c := r.classOf(t); c != nil {
		return verb + " a pointer, *" + c.Go
	}
	if _, why := r.describe(t); why != "" && holdsParts(t) {
		return why
	}
	return hint(t, verb)
}

// holdsParts reports whether a type is a struct or a map, or consists of some, whose parts may be at fault.
func holdsParts(t types.Type) bool {
	switch u := types.Unalias(t).Underlying().(type) {
	case *types.Pointer:
		return holdsParts(u.Elem())
	case *types.Struct, *types.Map:
		name, _ := nameOf(t)
		_, known := instead[name]
		return !known && !strings.HasPrefix(name, "godlpack/")
	case *types.Slice:
		_, named := types.Unalias(t).(*types.Named) // which may contain itself
		return named || holdsParts(u.Elem())
	case *types.Array:
		return holdsParts(u.Elem())
	}
	return false
}

// twice reports members of a class that have one name in Python, and setters without a getter.
func (r *reader) twice(all []*Func) {
	seen := map[string][]*Func{}
	for _, fn := range all {
		if fn.Class == nil {
			continue
		}
		name := fn.Decl.Class + "." + fn.Decl.Name
		if i := slices.IndexFunc(seen[name], func(other *Func) bool { return !isPair(fn, other) }); i >= 0 {
			first := r.fset.Position(seen[name][i].at)
			r.add(fn.at, "%s is taken by %s at %s:%d: give one of them another name", name, seen[name][i].Go, relative(first.Filename), first.Line)
			continue
		}
		seen[name] = append(seen[name], fn)
	}
	for _, fn := range all {
		if fn.Decl.Role == kernel.Setter && len(seen[fn.Decl.Class+"."+fn.Decl.Name]) == 1 {
			r.add(fn.at, "%s.%s has a setter and no getter: write a method by //godlpack:get %[2]s", fn.Decl.Class, fn.Decl.Name)
		}
	}
}

// isPair reports whether one function is the getter and the other the setter of an attribute.
func isPair(a, b *Func) bool {
	return a.Decl.Role == kernel.Getter && b.Decl.Role == kernel.Setter || a.Decl.Role == kernel.Setter && b.Decl.Role == kernel.Getter
}

// members returns the functions that make up the classes: their methods, those of embedded structs too, and their fields.
func (r *reader) members(files []*ast.File) []*Func {
	decls := map[*types.Func]*ast.FuncDecl{}
	for _, file := range files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
				decls[r.info.Defs[fn.Name].(*types.Func)] = fn
			}
		}
	}
	var all []*Func
	for _, c := range r.classes {
		all = append(all, r.fieldsOf(c)...)
		methods := r.methods(c)
		var own []*Func
		for _, m := range methods {
			own = append(own, r.directed(c, decls[m.Origin()])...)
		}
		for _, m := range methods {
			own = append(own, r.conventions(c, m, decls[m.Origin()], own)...)
		}
		slices.SortStableFunc(own, func(a, b *Func) int { return r.compare(a.at, b.at) })
		all = append(append(all, own...), r.restoring(c)...)
	}
	for m, decl := range decls {
		if marks := directivesOf(decl.Doc); len(marks) > 0 && !r.read[decl.Doc] && r.isException(m) {
			r.add(marks[0].at, "%s is a method of an error, which has no methods in Python: its exported fields are attributes", m.Name())
		} else if len(marks) > 0 && !r.read[decl.Doc] {
			r.add(marks[0].at, "%s is a method of a type that is not exported, nor embedded in one: write //godlpack:export above the type too", m.Name())
		}
	}
	return all
}

// methods returns the methods of a pointer to a class, promoted ones too, in the order of the source.
func (r *reader) methods(c *Class) []*types.Func {
	set := types.NewMethodSet(types.NewPointer(c.named))
	var found []*types.Func
	for i := range set.Len() {
		found = append(found, set.At(i).Obj().(*types.Func))
	}
	slices.SortStableFunc(found, func(a, b *types.Func) int { return r.compare(a.Pos(), b.Pos()) })
	return found
}

// compare orders positions by file and place; those of files that were read at the same time have no order of their own.
func (r *reader) compare(a, b token.Pos) int {
	x, y := r.fset.Position(a), r.fset.Position(b)
	return cmp.Or(strings.Compare(x.Filename, y.Filename), x.Offset-y.Offset)
}

// directed returns a method that has directives.
func (r *reader) directed(c *Class, decl *ast.FuncDecl) []*Func {
	if decl == nil || len(directivesOf(decl.Doc)) == 0 {
		return nil
	}
	if r.read[decl.Doc] { // promoted from an embedded struct that is exported too: its errors were reported
		defer func(n int) { r.found = r.found[:n] }(len(r.found))
	}
	r.read[decl.Doc] = true
	if fn, ok := r.method(c, decl); ok {
		return []*Func{fn}
	}
	return nil
}

// conventions returns what a method is by Go's conventions, except for names that others have by directives.
func (r *reader) conventions(c *Class, m *types.Func, decl *ast.FuncDecl, taken []*Func) []*Func {
	var all []*Func
	for _, p := range protocols {
		if p.method != m.Name() || !p.fits(m.Signature(), c) {
			continue
		}
		for _, name := range p.names {
			if !slices.ContainsFunc(taken, func(fn *Func) bool { return fn.Decl.Name == name }) {
				all = append(all, r.conventional(c, m, decl, name))
			}
		}
	}
	return all
}

// method reads a method that has directives.
func (r *reader) method(c *Class, decl *ast.FuncDecl) (*Func, bool) {
	marks := directivesOf(decl.Doc)
	role := kernel.Method
	for _, d := range marks {
		switch d.verb {
		case "get":
			role = kernel.Getter
		case "set":
			role = kernel.Setter
		}
	}
	if !r.checkMarks(decl, marks, "export", "get", "set") {
		return nil, false
	}
	return r.callable(decl, marks, c, role)
}

// A protocol is a Go convention that Python has, too.
type protocol struct {
	method string
	names  []string // in Python; see python/godlpack/_classes.py
	fits   func(s *types.Signature, c *Class) bool
}

var protocols = []protocol{
	{"Len", []string{"__len__"}, func(s *types.Signature, _ *Class) bool { return is(s, "()", "(int)") }},
	{"String", []string{"__str__", "__repr__"}, func(s *types.Signature, _ *Class) bool { return is(s, "()", "(string)") }},
	{"Close", []string{"close"}, func(s *types.Signature, _ *Class) bool { return is(s, "()", "(error)") || is(s, "()", "()") }},
	{"Hash", []string{"__hash__"}, func(s *types.Signature, _ *Class) bool {
		return is(s, "()", "(uint64)") || is(s, "()", "(int64)") || is(s, "()", "(int)") || is(s, "()", "(uint32)")
	}},
	{"Equal", []string{"__equal__"}, func(s *types.Signature, c *Class) bool { return takesOne(s, c) && is(s, "", "(bool)") }},
	{"Compare", []string{"__compare__"}, func(s *types.Signature, c *Class) bool { return takesOne(s, c) && is(s, "", "(int)") }},
	{"MarshalBinary", []string{"__marshal__"}, func(s *types.Signature, _ *Class) bool { return is(s, "()", "([]byte, error)") }},
}

// is compares the types of parameters and results; "" is any.
func is(s *types.Signature, params, results string) bool {
	text := func(t *types.Tuple) string {
		var parts []string
		for v := range t.Variables() {
			parts = append(parts, types.TypeString(v.Type(), nil))
		}
		return strings.ReplaceAll("("+strings.Join(parts, ", ")+")", "[]uint8", "[]byte")
	}
	return (params == "" || text(s.Params()) == params) && (results == "" || text(s.Results()) == results)
}

// takesOne reports whether a method takes one pointer to its class.
func takesOne(s *types.Signature, c *Class) bool {
	return s.Params().Len() == 1 && types.Identical(s.Params().At(0).Type(), types.NewPointer(c.named))
}

// conventional makes the function of a method without directives.
func (r *reader) conventional(c *Class, m *types.Func, decl *ast.FuncDecl, name string) *Func {
	fn := &Func{Go: m.Name(), Class: c, at: m.Pos(), Decl: &kernel.Func{Name: name, Class: c.Decl.Name, Role: kernel.Method}}
	if decl != nil {
		fn.Decl.Doc = docstring(decl.Doc, decl.Name.Name)
	}
	for p := range m.Signature().Params().Variables() {
		v := r.valueOf(p.Type())
		fn.Args, fn.Decl.Params = append(fn.Args, v), append(fn.Decl.Params, kernel.Param{Name: "other", Kind: kinds[v.Form], Classes: v.classNames()})
	}
	for result := range m.Signature().Results().Variables() {
		if isError(result.Type()) {
			fn.Fails = true
			continue
		}
		v := r.valueOf(result.Type())
		fn.Results, fn.Decl.Results = append(fn.Results, v), append(fn.Decl.Results, r.param(fn, v, field{}))
	}
	fn.bind()
	r.prepare(fn, m.Pos())
	return fn
}

// restoring returns the function that makes an object of what MarshalBinary returned, if the class has UnmarshalBinary.
func (r *reader) restoring(c *Class) []*Func {
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(c.named), true, c.named.Obj().Pkg(), "UnmarshalBinary")
	f, ok := m.(*types.Func)
	if !ok || !is(f.Signature(), "([]byte)", "(error)") {
		return nil
	}
	bytes := Value{Form: Bytes, Type: types.NewSlice(types.Typ[types.Byte])}
	object := Value{Form: Object, Type: c.named, Classes: []*Class{c}}
	fn := &Func{Go: "UnmarshalBinary", Class: c, at: f.Pos(), Access: Restore, Fails: true, Args: []Value{bytes}, Results: []Value{object}, Decl: &kernel.Func{
		Name: "__unmarshal__", Class: c.Decl.Name, Role: kernel.Constructor,
		Params:  []kernel.Param{{Name: "data", Kind: kernel.KindBytes}},
		Results: []kernel.Param{{Kind: kernel.KindObject, Classes: object.classNames()}},
	}}
	r.prepare(fn, f.Pos())
	return []*Func{fn}
}

// fieldsOf returns the getters and setters of a struct's exported fields.
func (r *reader) fieldsOf(c *Class) []*Func {
	if c.fields == nil {
		return nil
	}
	var all []*Func
	for _, f := range c.fields.List {
		for _, comment := range []*ast.CommentGroup{f.Doc, f.Comment} {
			marks := directivesOf(comment)
			if len(marks) == 0 {
				continue
			}
			if len(f.Names) == 0 || len(marks) > 1 {
				r.add(marks[len(marks)-1].at, "want one directive, at a field with a name: methods of an embedded field are the class's by their own directives")
				continue
			}
			for _, id := range f.Names {
				all = append(all, r.attribute(c, id, comment, marks[0])...)
			}
		}
	}
	return all
}

// attribute returns the getter of a field, and its setter unless the directive says readonly.
func (r *reader) attribute(c *Class, id *ast.Ident, doc *ast.CommentGroup, mark directive) []*Func {
	words := slices.Clone(mark.words)
	readonly := len(words) > 0 && words[len(words)-1].text == "readonly"
	if readonly {
		words = words[:len(words)-1]
	}
	name := pythonName(id.Name)
	if len(words) > 0 {
		name = words[0].text
	}
	v := r.valueOf(r.info.Defs[id].Type())
	switch {
	case mark.verb != "export" || len(words) > 1 || !isPythonName(name):
		r.add(mark.at, "above a field, want //godlpack:export [python_name] [readonly]")
		return nil
	case v.Form == None || v.Form == Callable || v.holdsTensor():
		r.add(id.Pos(), "a field of type %s cannot be an attribute: write a method that returns what Python needs, by //godlpack:get", r.typeText(r.info.Defs[id].Type()))
		return nil
	}
	decl := func(role kernel.Role) *Func {
		return &Func{Go: id.Name, Class: c, at: id.Pos(), Access: Field, Decl: &kernel.Func{Name: name, Class: c.Decl.Name, Role: role, Doc: docstring(doc, id.Name), HoldGIL: true}}
	}
	get := decl(kernel.Getter)
	get.Results, get.Decl.Results = []Value{v}, []kernel.Param{r.param(get, v, field{})}
	get.Decl.Place = placeOf(c, id.Name, v)
	all := []*Func{get}
	if !readonly {
		set := decl(kernel.Setter)
		p := r.param(set, v, field{})
		p.Name, p.Optional = "value", p.Optional || v.Form == Object || v.Form == Interface // as the getter's result
		set.Args, set.Decl.Params = []Value{v}, []kernel.Param{p}
		all = append(all, set)
	}
	for _, fn := range all {
		fn.bind()
		r.prepare(fn, id.Pos())
	}
	return all
}

// placeOf returns the place of a field in its object, if it is a number that the host can read by itself.
func placeOf(c *Class, name string, v Value) *kernel.Place {
	basic, ok := v.Type.Underlying().(*types.Basic)
	if !ok || c.Decl.Exclusive || v.Pointer || formats[basic.Kind()] == "" || v.Form == Tree {
		return nil
	}
	s := c.named.Underlying().(*types.Struct)
	var all []*types.Var
	for f := range s.Fields() {
		all = append(all, f)
	}
	i := slices.IndexFunc(all, func(f *types.Var) bool { return f.Name() == name })
	return &kernel.Place{Offset: uintptr(types.SizesFor("gc", "amd64").Offsetsof(all)[i]), Format: formats[basic.Kind()]}
}

// formats are the letters of Python's module struct.
var formats = map[types.BasicKind]string{
	types.Bool: "?", types.Int8: "b", types.Int16: "h", types.Int32: "i", types.Int64: "q", types.Int: "q",
	types.Uint8: "B", types.Uint16: "H", types.Uint32: "I", types.Uint64: "Q", types.Uint: "Q", types.Float32: "f", types.Float64: "d",
}

// bind makes the object the first argument of a method or an accessor.
func (fn *Func) bind() {
	self := Value{Form: Object, Type: fn.Class.named, Classes: []*Class{fn.Class}}
	fn.Args = append([]Value{self}, fn.Args...)
	p := kernel.Param{Name: "self", Kind: kernel.KindObject, Classes: self.classNames()}
	fn.Decl.Params = append([]kernel.Param{p}, fn.Decl.Params...)
}

// docstring returns a comment in the style of a docstring: "Saxpy adds a*x" becomes "Adds a*x".
func docstring(doc *ast.CommentGroup, name string) string {
	text := strings.TrimSpace(doc.Text())
	rest, ok := strings.CutPrefix(text, name+" ")
	if !ok || rest == "" {
		return text
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}
