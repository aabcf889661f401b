package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// writes reports whether one use of a variable may write to it, or to memory that it refers to.
func (f *flow) writes(v types.Object, u use) bool {
	at := len(u.around) - 1
	place := u.around[at].(ast.Expr)
	if at > 0 && isQualifier(u, at) { // store.cache: the selector is the variable's name
		at--
		place = u.around[at].(ast.Expr)
	}
	name := place
	for ; at > 0; at-- { // outwards, to the whole expression of the place: v.table[i].name
		outer, ok := u.around[at-1].(ast.Expr)
		if !ok || !isPart(place, outer, u.info) && !(place == name && f.givesSame(v, place, outer)) {
			break
		}
		place = outer
	}
	if at == 0 {
		return true
	}
	return f.writesAt(v, u, at, name, place)
}

// isQualifier reports whether an identifier is the name after a package's name and a dot.
func isQualifier(u use, at int) bool {
	selector, ok := u.around[at-1].(*ast.SelectorExpr)
	if !ok || selector.Sel != u.around[at] {
		return false
	}
	id, ok := selector.X.(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = u.info.Uses[id].(*types.PkgName)
	return ok
}

// isPart reports whether outer denotes inner itself, or a part of it.
func isPart(inner, outer ast.Expr, info *types.Info) bool {
	switch o := outer.(type) {
	case *ast.ParenExpr:
		return true
	case *ast.SelectorExpr:
		_, isMethod := info.Uses[o.Sel].(*types.Func)
		return o.X == inner && !isMethod
	case *ast.IndexExpr:
		return o.X == inner
	case *ast.SliceExpr:
		return o.X == inner
	case *ast.StarExpr, *ast.TypeAssertExpr:
		return true
	case *ast.CallExpr: // a conversion
		return len(o.Args) == 1 && o.Args[0] == inner && info.Types[o.Fun].IsType()
	}
	return false
}

// givesSame reports whether outer calls a variable, named at place, that returns the same each time: its result counts as a
// part of the variable.
func (f *flow) givesSame(v types.Object, place, outer ast.Expr) bool {
	call, ok := outer.(*ast.CallExpr)
	return ok && call.Fun == place && f.starts[v].isOnce()
}

// writesAt reports whether the node around a place, u.around[at-1], may write to the place.
func (f *flow) writesAt(v types.Object, u use, at int, name, place ast.Expr) bool {
	t := u.info.TypeOf(place)
	local := v.Parent() != nil && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
	switch n := u.around[at-1].(type) {
	case *ast.AssignStmt:
		if slices.Contains(n.Lhs, place) {
			return !local || place != name // an assignment to a local variable itself does not write to what it refers to
		}
		return f.leaks(t) && f.assigned(n, place, u.info)
	case *ast.ValueSpec:
		return f.leaks(t) && f.begun(n, place, u.info)
	case *ast.IncDecStmt:
		return !local || place != name
	case *ast.UnaryExpr:
		return n.Op == token.AND && !harmless(t) || n.Op == token.ARROW
	case *ast.SendStmt:
		return n.Chan == place || f.leaks(t)
	case *ast.RangeStmt:
		return f.ranged(n, place, t, u.info)
	case *ast.SelectorExpr:
		return f.method(n, t, u)
	case *ast.CallExpr:
		return f.called(n, place, t, u.info)
	case *ast.BinaryExpr, *ast.IfStmt, *ast.SwitchStmt, *ast.ForStmt, *ast.CaseClause, *ast.TypeSwitchStmt, *ast.IndexExpr,
		*ast.SliceExpr, *ast.ExprStmt:
		return false
	}
	return f.leaks(t) // returned, stored, or part of another value
}

// assigned reports whether a value may be written through its new place: only local variables are followed.
func (f *flow) assigned(n *ast.AssignStmt, value ast.Expr, info *types.Info) bool {
	if len(n.Lhs) != len(n.Rhs) { // v, ok := m[key]; v, err := f()
		return slices.ContainsFunc(n.Lhs, func(to ast.Expr) bool { return f.leaks(info.TypeOf(to)) && f.stored(to, info) })
	}
	return f.stored(n.Lhs[max(slices.Index(n.Rhs, value), 0)], info)
}

func (f *flow) begun(n *ast.ValueSpec, value ast.Expr, info *types.Info) bool {
	if len(n.Names) != len(n.Values) {
		return slices.ContainsFunc(n.Names, func(to *ast.Ident) bool { return f.leaks(info.TypeOf(to)) && f.stored(to, info) })
	}
	return f.stored(n.Names[max(slices.Index(n.Values, value), 0)], info)
}

func (f *flow) stored(to ast.Expr, info *types.Info) bool {
	id, ok := to.(*ast.Ident)
	if !ok || id.Name == "_" {
		return !ok
	}
	object := info.ObjectOf(id)
	if object == nil || object.Parent() == object.Pkg().Scope() {
		return true
	}
	return f.written(object)
}

// ranged reports whether a range loop may write to a place.
func (f *flow) ranged(n *ast.RangeStmt, place ast.Expr, t types.Type, info *types.Info) bool {
	if n.X != place {
		return true // the loop assigns to it
	}
	if _, ok := t.Underlying().(*types.Chan); ok {
		return true
	}
	for _, to := range []ast.Expr{n.Key, n.Value} {
		if to != nil && f.leaks(info.TypeOf(to)) && f.stored(to, info) {
			return true
		}
	}
	return false
}

// method reports whether a method of a place may write to its receiver.
func (f *flow) method(n *ast.SelectorExpr, t types.Type, u use) bool {
	fn, ok := u.info.Uses[n.Sel].(*types.Func)
	if !ok || harmless(t) {
		return false
	}
	receiver := fn.Origin().Signature().Recv()
	_, pointer := receiver.Type().Underlying().(*types.Pointer)
	if !pointer && !f.leaks(t) {
		return false
	}
	if f.bodies[fn.Origin()] == nil {
		return true
	}
	return f.written(receiver)
}

// called reports whether a call may write to a place, which is an argument or the called function.
func (f *flow) called(n *ast.CallExpr, place ast.Expr, t types.Type, info *types.Info) bool {
	if n.Fun == place {
		return false
	}
	i := slices.Index(n.Args, place)
	if id, ok := ast.Unparen(n.Fun).(*ast.Ident); ok {
		if _, builtin := info.Uses[id].(*types.Builtin); builtin {
			return writesBuiltin(id.Name, i) || id.Name == "append" && f.leaks(elementType(t))
		}
	}
	fn := callee(n, info)
	switch {
	case !f.leaks(t):
		return false
	case fn == nil:
		return true
	case f.bodies[fn] != nil:
		params := fn.Signature().Params()
		return f.written(params.At(min(i, params.Len()-1)))
	}
	return !onlyReads(fn)
}

// writesBuiltin reports whether a builtin function writes to its argument i.
func writesBuiltin(name string, i int) bool {
	return i == 0 && slices.Contains([]string{"append", "copy", "clear", "delete", "close"}, name)
}

func elementType(t types.Type) types.Type {
	if slice, ok := t.Underlying().(*types.Slice); ok {
		return slice.Elem()
	}
	return t
}

// readers are packages whose functions change none of their arguments, except the functions with the prefixes listed here.
var readers = map[string][]string{
	"bytes": nil, "errors": nil, "fmt": {"Fprint", "Sscan", "Fscan"}, "math": nil, "regexp": nil, "strconv": nil, "strings": nil,
	"maps":   {"Copy", "DeleteFunc", "Insert"},
	"slices": {"Sort", "Reverse", "Insert", "Delete", "Replace", "Compact", "Grow", "Clip"},
	"sort":   {"Sort", "Stable", "Slice", "Ints", "Strings", "Float64s", "Reverse"},
	"time":   nil, "godlpack/cuda": {"Fetch", "Download"}, "unicode": nil, "unicode/utf8": nil, "unicode/utf16": nil,
}

// onlyReads reports whether a function of another package is known to change none of its arguments.
func onlyReads(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return true // the method Error
	}
	writers, known := readers[fn.Pkg().Path()]
	return known && !slices.ContainsFunc(writers, func(name string) bool { return strings.HasPrefix(fn.Name(), name) })
}

// keepers are types whose values may change without being state: locks, caches of memory, and values that are made once
// and then only read.
var keepers = []string{
	"sync.Mutex", "sync.RWMutex", "sync.Once", "sync.Pool", "sync.WaitGroup", "sync.Cond",
	"regexp.Regexp", "strings.Replacer", "text/template.Template", "html/template.Template", "time.Location", "time.Time",
	"log.Logger", "log/slog.Logger", "encoding/base64.Encoding", "unicode.RangeTable", "hash/crc32.Table", "hash/crc64.Table",
	"reflect.Type", "embed.FS",
	"godlpack/cuda.Driver", "godlpack/cuda.Device", "godlpack/cuda.Module", "godlpack/cuda.Function", // no child of a fork can use CUDA
}

// harmless reports whether the values of a type are not state: those of keepers, and errors, which are made once, too.
func harmless(t types.Type) bool {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		t = pointer.Elem()
	}
	name, _ := nameOf(t)
	return isError(t) || slices.Contains(keepers, name)
}

// leaks reports whether a value of that type has references through which a receiver can change shared memory.
func (f *flow) leaks(t types.Type) bool { return refers(t, map[types.Type]bool{}) }

func refers(t types.Type, seen map[types.Type]bool) bool {
	if t == nil || seen[t] || harmless(t) {
		return false
	}
	seen[t] = true
	if isTypeParam(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Signature:
		return false
	case *types.Array:
		return refers(u.Elem(), seen)
	case *types.Struct:
		for field := range u.Fields() {
			if refers(field.Type(), seen) {
				return true
			}
		}
		return false
	case *types.Tuple: // of v, ok := m[key], or a call's
		for v := range u.Variables() {
			if refers(v.Type(), seen) {
				return true
			}
		}
		return false
	}
	return true
}
