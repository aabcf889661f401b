package source

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"godlpack/kernel"
)

// A schema is a type that is exchanged as a tree of plain values, while it is being described.
type schema struct {
	*reader
	found *found
	outer []types.Type // the named types around it: a type within itself has no tree
}

// found is what the description of a type has come across.
type found struct {
	records []*types.Named
	why     string // the type cannot be exchanged
}

// An Enum is an exported type of ints or texts with constants, which is an enum in Python.
type Enum struct {
	named *types.Named
	Type  *kernel.Type

	at   token.Pos
	used bool
}

// describe returns the description of a Go type, whose records take their names in the module. It is nil for a type that cannot
// be exchanged; then why names the part at fault, if it is not the type itself.
func (r *reader) describe(t types.Type) (described *kernel.Type, why string) {
	s := schema{reader: r, found: &found{}}
	if described = s.typeOf(t); described != nil {
		for _, named := range s.found.records {
			r.nameRecord(named)
		}
	}
	return described, s.found.why
}

// refuse returns nil, and keeps the reason, unless there is one of an inner type.
func (s schema) refuse(why string) *kernel.Type {
	if s.found.why == "" {
		s.found.why = why
	}
	return nil
}

// typeOf returns the description of a Go type; nil if it cannot be exchanged.
func (s schema) typeOf(t types.Type) *kernel.Type {
	t = types.Unalias(t)
	name, _ := nameOf(t)
	switch name {
	case "time.Time":
		return &kernel.Type{Kind: kernel.TypeTime}
	case "time.Duration":
		return &kernel.Type{Kind: kernel.TypeDuration}
	case "math/big.Int":
		return &kernel.Type{Kind: kernel.TypeBigInt}
	}
	if isTypeParam(t) || isError(t) || strings.HasPrefix(name, "godlpack/") {
		return nil
	}
	if slices.ContainsFunc(s.outer, func(o types.Type) bool { return types.Identical(o, t) }) {
		return s.refuse(s.typeText(t) + " contains itself: export the type as a class, and pass pointers")
	}
	if _, ok := t.(*types.Named); ok {
		s.outer = append(slices.Clip(s.outer), t)
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return s.basic(t, u)
	case *types.Pointer:
		if elem := s.typeOf(u.Elem()); elem != nil && elem.Kind != kernel.TypeOptional {
			return &kernel.Type{Kind: kernel.TypeOptional, Elem: elem}
		}
	case *types.Slice:
		return s.list(u.Elem(), 0)
	case *types.Array:
		return s.list(u.Elem(), int(u.Len()))
	case *types.Map:
		return s.dict(u)
	case *types.Struct:
		return s.record(t, u)
	case *types.Interface:
		if u.Empty() {
			return &kernel.Type{Kind: kernel.TypeAny}
		}
	}
	return nil
}

// basics maps the properties of Go's basic types to kinds; uintptr is none.
var basics = []struct {
	info types.BasicInfo
	kind kernel.TypeKind
}{
	{types.IsBoolean, kernel.TypeBool}, {types.IsInteger, kernel.TypeInt}, {types.IsFloat, kernel.TypeFloat},
	{types.IsComplex, kernel.TypeComplex}, {types.IsString, kernel.TypeStr},
}

func (s schema) basic(t types.Type, u *types.Basic) *kernel.Type {
	if e := s.enumOf(t); e != nil {
		e.used = true
		return e.Type
	}
	for _, b := range basics {
		if u.Info()&b.info != 0 && u.Kind() != types.Uintptr {
			return &kernel.Type{Kind: b.kind}
		}
	}
	return nil
}

func (s schema) dict(m *types.Map) *kernel.Type {
	keys := []kernel.TypeKind{kernel.TypeStr, kernel.TypeInt, kernel.TypeBool, kernel.TypeEnum}
	key, elem := s.typeOf(m.Key()), s.typeOf(m.Elem())
	if key == nil || !slices.Contains(keys, key.Kind) {
		return s.refuse("a map's keys must be strings, integers, bools or enums, and these are " + s.typeText(m.Key()))
	}
	if elem == nil {
		return s.refuse("its values are " + s.typeText(m.Elem()))
	}
	return &kernel.Type{Kind: kernel.TypeDict, Key: key, Elem: elem}
}

func (s schema) list(elem types.Type, n int) *kernel.Type {
	if types.Identical(elem, types.Typ[types.Byte]) {
		return &kernel.Type{Kind: kernel.TypeBytes, Len: n}
	}
	if item := s.typeOf(elem); item != nil {
		return &kernel.Type{Kind: kernel.TypeList, Elem: item, Len: n}
	}
	return s.refuse("its elements are " + s.typeText(elem))
}

func (s schema) record(t types.Type, u *types.Struct) *kernel.Type {
	named, ok := t.(*types.Named)
	if !ok {
		return s.refuse("a struct needs a name, which is that of its class in Python")
	}
	if s.classOf(t) != nil {
		return s.refuse("objects pass as pointers, *" + s.classOf(t).Go)
	}
	r := &kernel.Type{Kind: kernel.TypeRecord, Name: recordName(named), Doc: s.docs[named.Obj()]}
	for f := range u.Fields() {
		if !f.Exported() {
			continue
		}
		described, name := s.typeOf(f.Type()), pythonName(f.Name())
		switch {
		case described == nil:
			return s.refuse(named.Obj().Name() + "." + f.Name() + " is of type " + s.typeText(f.Type()))
		case slices.ContainsFunc(r.Fields, func(other kernel.Field) bool { return other.Name == name }):
			return s.refuse(named.Obj().Name() + " has two fields of the name " + name + " in Python: rename one")
		case !isPythonName(name) || strings.HasPrefix(name, "_"):
			return s.refuse(named.Obj().Name() + "." + f.Name() + " cannot be a field in Python: rename it")
		}
		r.Fields = append(r.Fields, kernel.Field{Name: name, Type: described})
	}
	if len(r.Fields) == 0 {
		return s.refuse(s.typeText(t) + " has no exported field: export the type, as a class, and pass pointers to it")
	}
	s.found.records = append(s.found.records, named)
	return r
}

// recordName returns the name of a record's class: Go's with a capital; of an instance of a generic type with those of the
// arguments, PairInt.
func recordName(named *types.Named) string {
	name := capitalized(named.Obj().Name())
	for arg := range named.TypeArgs().Types() {
		if inner, ok := types.Unalias(arg).(*types.Named); ok {
			name += recordName(inner)
		} else if basic, ok := types.Unalias(arg).(*types.Basic); ok {
			name += capitalized(basic.Name())
		}
	}
	return name
}

func capitalized(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// nameRecord takes the name of a record in the module, once a type.
func (r *reader) nameRecord(named *types.Named) {
	name := recordName(named)
	for _, known := range r.records {
		if types.Identical(known, named) {
			return
		}
		if recordName(known) == name {
			r.add(named.Obj().Pos(), "%s and %s would both be the class %s in Python: define a type of another name", r.typeText(known), r.typeText(named), name)
			return
		}
	}
	r.records = append(r.records, named)
	if !isPythonName(name) || slices.Contains(stubNames, name) || slices.Contains(builtinNames, name) {
		r.add(named.Obj().Pos(), "%q cannot be the name of a Python class: rename the type", name)
		return
	}
	if first, twice := r.taken[name]; twice {
		r.add(named.Obj().Pos(), "the Python name %s is taken at %s:%d: rename the type, or give the other another name", name, relative(first.Filename), first.Line)
		return
	}
	r.taken[name] = r.fset.Position(named.Obj().Pos())
}

// enumOf returns the exported enum of a type; nil if it is none.
func (r *reader) enumOf(t types.Type) *Enum {
	for _, e := range r.enums {
		if types.Identical(e.named, types.Unalias(t)) {
			return e
		}
	}
	return nil
}

// holdsEnum reports whether a type is an enum, a pointer to one, or a slice of them.
func (r *reader) holdsEnum(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.Pointer:
		return r.holdsEnum(u.Elem())
	case *types.Slice:
		return r.holdsEnum(u.Elem())
	}
	return r.enumOf(t) != nil
}

// enum reads an exported type of ints or texts, if it has constants.
func (r *reader) enum(spec *ast.TypeSpec, named *types.Named, doc *ast.CommentGroup, marks []directive) bool {
	basic, ok := named.Underlying().(*types.Basic)
	if !ok || basic.Info()&(types.IsInteger|types.IsString) == 0 {
		return false
	}
	constants := r.constants(named)
	if len(constants) == 0 {
		return false
	}
	if len(marks) > 1 || marks[0].verb != "export" || len(marks[0].words) > 1 {
		r.add(marks[0].at, "above a type, want //godlpack:export [PythonName]")
		return true
	}
	t := &kernel.Type{Kind: kernel.TypeEnum, Name: r.className(spec, marks[0]), Doc: docstring(doc, spec.Name.Name), Members: r.enumMembers(constants, named)}
	t.Flags = basic.Info()&types.IsInteger != 0 && areBits(constants) && r.shifts[named]
	r.enums = append(r.enums, &Enum{named: named, Type: t, at: spec.Pos()})
	return true
}

// unusedEnums returns warnings about enums that no function takes or returns: Python does not get their classes.
func (r *reader) unusedEnums() Problems {
	unused := reporter{fset: r.fset}
	for _, e := range r.enums {
		if !e.used {
			unused.add(e.at, "warning: no exported function takes or returns a %s, so Python does not get the class", e.named.Obj().Name())
		}
	}
	return unused.found
}

// constants returns the exported constants of a type of the author's package, in the order of the source.
func (r *reader) constants(named *types.Named) []*types.Const {
	var constants []*types.Const
	for _, name := range r.pkg.Scope().Names() {
		if c, ok := r.pkg.Scope().Lookup(name).(*types.Const); ok && c.Exported() && types.Identical(c.Type(), named) {
			constants = append(constants, c)
		}
	}
	slices.SortFunc(constants, func(a, b *types.Const) int { return r.compare(a.Pos(), b.Pos()) })
	return constants
}

// enumMembers returns the members of an enum. Two of one name are an error; two of one value are one member with two names.
func (r *reader) enumMembers(constants []*types.Const, named *types.Named) []kernel.Member {
	members := make([]kernel.Member, len(constants))
	for i, c := range constants {
		m := kernel.Member{Name: memberName(c.Name(), named.Obj().Name()), Value: constantValue(c.Val())}
		if j := slices.IndexFunc(members[:i], func(other kernel.Member) bool { return other.Name == m.Name }); j >= 0 {
			r.add(c.Pos(), "%s and %s would both be %s in Python: rename one", constants[j].Name(), c.Name(), m.Name)
		}
		if !isPythonName(m.Name) {
			r.add(c.Pos(), "%s cannot be the name of a member in Python: use letters a to z, digits and _", c.Name())
		}
		members[i] = m
	}
	return members
}

// constantValue returns a string, an int64, or a uint64 that no int64 holds.
func constantValue(v constant.Value) any {
	if v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	if n, exact := constant.Int64Val(v); exact {
		return n
	}
	n, _ := constant.Uint64Val(v)
	return n
}

// areBits reports whether constants are bits, and unions of them.
func areBits(constants []*types.Const) bool {
	bits, all := uint64(0), uint64(0)
	for _, c := range constants {
		n, exact := constant.Uint64Val(c.Val())
		if !exact {
			return false
		}
		if all |= n; n&(n-1) == 0 {
			bits |= n
		}
	}
	return bits != 0 && bits == all
}

// memberName returns the name of an enum's member: of the type Metric, MetricCosine is COSINE.
func memberName(name, typeName string) string {
	upper := func(name string) string { return strings.ToUpper(strings.Trim(pythonName(name), "_")) }
	if rest, ok := strings.CutPrefix(name, typeName); ok && isPythonName(upper(rest)) && upper(rest) != "MRO" {
		return upper(rest)
	}
	return upper(name)
}
