package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"godlpack/kernel"
)

// An Exception is one exported error, which is a class of exceptions in Python.
type Exception struct {
	Go      string // the variable, or the type as errors have it: NotFound or *NotFound
	IsValue bool
	Decl    kernel.Exception

	base word // in the directive
}

// builtinExceptions are the bases that an exception may have, and the default.
var builtinExceptions = []string{
	"RuntimeError", "ArithmeticError", "AssertionError", "AttributeError", "BufferError", "EOFError", "Exception", "ImportError", "IndexError",
	"KeyError", "LookupError", "MemoryError", "NotImplementedError", "OSError", "OverflowError", "TimeoutError", "TypeError",
	"ValueError", "ConnectionError", "FileExistsError", "FileNotFoundError", "PermissionError", "ZeroDivisionError",
}

// builtinNames are names of Python that a class of the package would hide.
var builtinNames = append([]string{
	"BaseException", "StopIteration", "StopAsyncIteration", "KeyboardInterrupt", "SystemExit", "GeneratorExit", "RecursionError",
	"UnicodeError", "UnicodeDecodeError", "UnicodeEncodeError", "FloatingPointError", "ReferenceError", "SystemError", "SyntaxError",
	"NameError", "ModuleNotFoundError", "BlockingIOError", "BrokenPipeError", "ChildProcessError", "ConnectionAbortedError",
	"ConnectionRefusedError", "ConnectionResetError", "InterruptedError", "IsADirectoryError", "NotADirectoryError",
	"ProcessLookupError", "ExceptionGroup", "BaseExceptionGroup", "Warning", "UserWarning", "RuntimeWarning", "DeprecationWarning",
	"bool", "int", "float", "complex", "str", "bytes", "list", "dict", "tuple", "set", "object", "type", "property", "staticmethod",
}, builtinExceptions...)

const exceptionUsage = "one //godlpack:export [PythonName] [base=KeyError]"

// errorValue reads one variable or constant, if it is exported.
func (r *reader) errorValue(spec *ast.ValueSpec, doc *ast.CommentGroup) {
	marks := directivesOf(doc)
	if count(marks, "export") == 0 {
		return
	}
	r.read[doc] = true
	id := spec.Names[0]
	if t := r.info.Defs[id]; len(spec.Names) > 1 || id.Name == "_" || t == nil || !types.Implements(t.Type(), errorInterface) {
		r.add(id.Pos(), "of variables, only errors can be exported, each by a declaration of its own: var ErrNotFound = errors.New(...)")
		return
	}
	r.exception(&Exception{Go: id.Name, IsValue: true}, id, doc, marks)
}

// errorType reads one exported type that is an error.
func (r *reader) errorType(spec *ast.TypeSpec, named *types.Named, doc *ast.CommentGroup, marks []directive) {
	e := &Exception{Go: spec.Name.Name}
	if !types.Implements(named, errorInterface) {
		e.Go = "*" + e.Go
	}
	if s, ok := named.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			hint := attributeHint(f.Type(), 0)
			if !f.Exported() || f.Embedded() || hint == "" {
				continue
			}
			field := kernel.ExceptionField{Go: f.Name(), Name: attributeName(f.Name()), Type: hint}
			if slices.ContainsFunc(e.Decl.Fields, func(o kernel.ExceptionField) bool { return o.Name == field.Name }) {
				r.add(f.Pos(), "two fields have the name %s in Python: give one of them another name", field.Name)
			}
			e.Decl.Fields = append(e.Decl.Fields, field)
		}
	}
	r.exception(e, spec.Name, doc, marks)
}

// attributeName returns a field's name in Python. Those of every exception's own members get a _.
func attributeName(name string) string {
	name = pythonName(name)
	if slices.Contains([]string{"args", "with_traceback", "add_note", "errno", "strerror", "filename", "filename2", "characters_written"}, name) {
		return name + "_"
	}
	return name
}

// exception reads the directive of an error.
func (r *reader) exception(e *Exception, id *ast.Ident, doc *ast.CommentGroup, marks []directive) {
	e.Decl.Name, e.Decl.Base, e.Decl.Doc = exceptionName(id.Name), builtinExceptions[0], docstring(doc, id.Name)
	at := id.Pos()
	if len(marks) > 1 || marks[0].verb != "export" {
		r.add(marks[len(marks)-1].at, "above an error, want "+exceptionUsage)
		return
	}
	for i, w := range marks[0].words {
		name, value, assigned := w.assignment()
		switch {
		case assigned && name == "base":
			e.Decl.Base, e.base = value.text, value
		case i == 0 && !assigned:
			e.Decl.Name, at = w.text, w.at
		default:
			r.add(w.at, "above an error, want "+exceptionUsage)
			return
		}
	}
	if !isPythonName(e.Decl.Name) || slices.Contains(stubNames, e.Decl.Name) || slices.Contains(builtinNames, e.Decl.Name) {
		e.Decl.Base = builtinExceptions[0] // one error is enough
		r.add(at, "%q cannot be the name of the package's own exception: give another, //godlpack:export NAME", e.Decl.Name)
	}
	r.take(e.Decl.Name, at)
	r.errors = append(r.errors, e)
}

// checkBases reports bases that are no exceptions, and those that lead back to themselves.
func (r *reader) checkBases() {
	named := func(name string) *Exception {
		i := slices.IndexFunc(r.errors, func(e *Exception) bool { return e.Decl.Name == name })
		if i < 0 {
			return nil
		}
		return r.errors[i]
	}
	for _, e := range r.errors {
		if named(e.Decl.Base) == nil && !slices.Contains(builtinExceptions, e.Decl.Base) {
			r.add(e.base.at, "base %q: want an exported error of this package, or one of %s", e.Decl.Base, strings.Join(builtinExceptions, ", "))
		}
		base := named(e.Decl.Base)
		for range r.errors {
			if base != nil && base != e {
				base = named(base.Decl.Base)
			}
		}
		if base == e {
			r.add(e.base.at, "base %q: %s would be its own base", e.Decl.Base, e.Decl.Name)
		}
	}
}

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// isErrorType reports whether the values of a type, or pointers to them, are errors.
func isErrorType(named *types.Named) bool {
	return types.Implements(named, errorInterface) || types.Implements(types.NewPointer(named), errorInterface)
}

// exceptionName returns the name in Python's style: ErrNotFound and NotFound become NotFoundError.
func exceptionName(name string) string {
	if rest := strings.TrimPrefix(strings.TrimPrefix(name, "Err"), "err"); rest != name && token.IsExported(rest) {
		name = rest
	}
	name = strings.ToUpper(name[:1]) + name[1:]
	if strings.HasSuffix(name, "Error") {
		return name
	}
	return name + "Error"
}

// attributeHint returns the type hint of a field that becomes an attribute; "" for types that JSON does not say.
func attributeHint(t types.Type, depth int) string {
	if depth > 8 {
		return "" // of a type within itself
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		switch info := t.Info(); {
		case info&types.IsBoolean != 0:
			return "bool"
		case info&types.IsInteger != 0 && t.Kind() != types.Uintptr:
			return "int"
		case info&types.IsFloat != 0:
			return "float"
		case info&types.IsString != 0:
			return "str"
		}
	case *types.Slice:
		if hint := attributeHint(t.Elem(), depth+1); hint != "" && !types.Identical(t.Elem().Underlying(), types.Typ[types.Byte]) {
			return "list[" + hint + "]"
		}
	case *types.Map:
		if hint := attributeHint(t.Elem(), depth+1); hint != "" && attributeHint(t.Key(), depth+1) == "str" {
			return "dict[str, " + hint + "]"
		}
	}
	return ""
}

// isException reports whether a method is of an exported error's type.
func (r *reader) isException(m *types.Func) bool {
	t := m.Signature().Recv().Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	name, _ := nameOf(t)
	return slices.ContainsFunc(r.errors, func(e *Exception) bool {
		return !e.IsValue && strings.HasSuffix(name, "."+strings.TrimPrefix(e.Go, "*"))
	})
}
