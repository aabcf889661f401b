package source

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"godlpack/kernel"
)

// stateOf returns a library's state: the variables that may change after the start, and, by the directive, the effect of a
// call in a forked process, which does not have their values. It is nil if such a call needs no warning or error.
func stateOf(all []*packages.Package, root *packages.Package, fork string) *kernel.State {
	if fork == "fresh" {
		return nil
	}
	f := newFlow(all)
	var names []string
	for _, p := range all {
		prefix := ""
		if p.PkgPath != root.PkgPath {
			prefix = p.Name + "."
		}
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			if v, ok := scope.Lookup(name).(*types.Var); ok && f.changes(v) {
				names = append(names, prefix+name)
			}
		}
	}
	slices.Sort(names)
	switch {
	case fork == "refuse":
		return &kernel.State{Fork: kernel.ForkFails, Variables: names}
	case names == nil:
		return nil
	}
	return &kernel.State{Fork: kernel.ForkWarns, Variables: names}
}

// A flow follows values through the functions of the author's packages, to find the package-level variables that may change
// after the start. It is conservative: a value that it cannot follow may be changed, except values without references,
// harmless types, and arguments of functions in Go's own packages that are known to change nothing.
type flow struct {
	uses   map[types.Object][]use
	bodies map[*types.Func]*ast.FuncDecl
	starts map[types.Object]start
	known  map[types.Object]bool // whether a variable is written, or a function starts only; false while that is determined
}

// A start is the initial value of a variable.
type start struct {
	value ast.Expr
	info  *types.Info
}

// A use is one place where an object is named, with all nodes around it; the innermost is the last.
type use struct {
	around []ast.Node
	info   *types.Info
}

func newFlow(all []*packages.Package) *flow {
	f := &flow{
		map[types.Object][]use{}, map[*types.Func]*ast.FuncDecl{}, map[types.Object]start{}, map[types.Object]bool{},
	}
	for _, p := range all {
		for _, file := range p.Syntax {
			f.file(file, p.TypesInfo)
		}
	}
	return f
}

// file records the uses, functions and initial values in a file.
func (f *flow) file(file *ast.File, info *types.Info) {
	var around []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		switch n := n.(type) {
		case *ast.Ident:
			if object := info.Uses[n]; object != nil {
				f.uses[object] = append(f.uses[object], use{slices.Clone(around), info})
			}
		case *ast.FuncDecl:
			if fn, ok := info.Defs[n.Name].(*types.Func); ok {
				f.bodies[fn] = n
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) > 0 {
					f.starts[info.Defs[name]] = start{n.Values[min(i, len(n.Values)-1)], info}
				}
			}
		}
		return true
	})
}

// changes reports whether a package-level variable may change after the package's initialization.
func (f *flow) changes(v *types.Var) bool {
	if harmless(v.Type()) {
		return false
	}
	if fn, ok := v.Type().Underlying().(*types.Signature); ok && (f.starts[v].remembers() || f.starts[v].isOnce() && givesFunction(fn)) {
		return true
	}
	return f.written(v)
}

// givesFunction reports whether a result is a function, which may be a closure with state.
func givesFunction(fn *types.Signature) bool {
	for v := range fn.Results().Variables() {
		if _, ok := v.Type().Underlying().(*types.Signature); ok {
			return true
		}
	}
	return false
}

// isOnce reports whether a value is the result of sync.OnceValue, OnceValues or OnceFunc.
func (s start) isOnce() bool { return s.value != nil && doesOnce(ast.Unparen(s.value), s.info) }

// remembers reports whether a value that is a function may be a closure with state: one that a call made. Functions made by
// sync.OnceValue return the same each time.
func (s start) remembers() bool {
	call, ok := s.value.(*ast.CallExpr)
	return ok && !s.info.Types[call.Fun].IsType() && !doesOnce(call, s.info)
}

// written reports whether any code may write to a variable, or to memory that it refers to.
func (f *flow) written(v types.Object) bool {
	if known, ok := f.known[v]; ok {
		return known
	}
	f.known[v] = false // a use within itself adds nothing
	f.known[v] = slices.ContainsFunc(f.uses[v], func(u use) bool { return !f.atStart(u) && f.writes(v, u) })
	return f.known[v]
}

// atStart reports whether a place runs only once, as at the start: in an init function or the initial value of a
// package-level variable, in a function literal for a sync.Once that captures no variable, or in a function that is called
// only at such places.
func (f *flow) atStart(u use) bool {
	literal := false
	for i := len(u.around) - 1; i > 0; i-- {
		switch n := u.around[i].(type) {
		case *ast.FuncLit:
			if doesOnce(u.around[i-1], u.info) && !captures(n, u.info) {
				return true
			}
			literal = true
		case *ast.FuncDecl:
			return !literal && (n.Name.Name == "init" && n.Recv == nil || f.startsOnly(n, u.info))
		case *ast.GenDecl:
			if i == 1 { // of the file
				return !literal
			}
		}
	}
	return false
}

// startsOnly reports whether a function is called only at the start.
func (f *flow) startsOnly(decl *ast.FuncDecl, info *types.Info) bool {
	fn := info.Defs[decl.Name]
	if known, ok := f.known[fn]; ok {
		return known
	}
	f.known[fn] = false // for recursive calls
	if decl.Recv != nil || decl.Name.IsExported() || len(directivesOf(decl.Doc)) > 0 {
		return false
	}
	f.known[fn] = len(f.uses[fn]) > 0 && !slices.ContainsFunc(f.uses[fn], func(u use) bool { return !f.atStart(u) && !isDoneOnce(u) })
	return f.known[fn]
}

// isDoneOnce reports whether a use is an argument of a sync.Once call.
func isDoneOnce(u use) bool {
	call, ok := u.around[len(u.around)-2].(*ast.CallExpr)
	return ok && call.Fun != u.around[len(u.around)-1] && doesOnce(call, u.info)
}

// doesOnce reports whether a node is a call of sync.Once's Do, or of sync.OnceFunc, OnceValue or OnceValues.
func doesOnce(n ast.Node, info *types.Info) bool {
	call, ok := n.(*ast.CallExpr)
	fn := (*types.Func)(nil)
	if ok {
		fn = callee(call, info)
	}
	return fn != nil && (fn.FullName() == "(*sync.Once).Do" || strings.HasPrefix(fn.FullName(), "sync.Once"))
}

// captures reports whether a function literal uses a variable of an enclosing function.
func captures(literal *ast.FuncLit, info *types.Info) bool {
	found := false
	ast.Inspect(literal, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		v, isVar := info.Uses[id].(*types.Var)
		if ok && isVar && !v.IsField() && v.Parent() != v.Pkg().Scope() {
			found = found || v.Pos() < literal.Pos() || v.Pos() > literal.End()
		}
		return !found
	})
	return found
}

// callee returns the function that a call names; nil for conversions, builtins and function values.
func callee(call *ast.CallExpr, info *types.Info) *types.Func {
	expression := ast.Unparen(call.Fun)
	switch index := expression.(type) {
	case *ast.IndexExpr:
		expression = index.X
	case *ast.IndexListExpr:
		expression = index.X
	}
	var id *ast.Ident
	switch e := expression.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return nil
	}
	fn, ok := info.Uses[id].(*types.Func)
	if !ok {
		return nil
	}
	return fn.Origin()
}
