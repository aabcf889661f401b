package glue

import (
	"fmt"
	"go/types"

	"godlpack/cmd/godlpack/source"
)

// read returns the expression that reads argument i. An iterator goes on when the call has ended: it gets copies of the caller's
// memory.
func (f *file) read(v source.Value, i int) string {
	text := f.borrowed(v, i)
	switch {
	case f.keeps && v.Form == source.Of:
		return fmt.Sprintf("%s.Copied(%s)", f.kernel(), text)
	case f.keeps && v.Form == source.List && v.Items.Form == source.Of:
		return fmt.Sprintf("%s.CopiedList(%s)", f.kernel(), text)
	case f.keeps && v.Form == source.Bytes:
		return fmt.Sprintf("%s.Clone(%s)", f.use("bytes", "bytes"), text)
	}
	return text
}

// borrowed returns the expression that reads argument i, which may be the caller's memory.
func (f *file) borrowed(v source.Value, i int) string {
	switch v.Form {
	case source.Int:
		return fmt.Sprintf("%s.Int[%s](c, %d)", f.kernel(), f.typeText(v.Type), i)
	case source.Float:
		return f.readFloat(v, i)
	case source.Of, source.Mut, source.DeviceOf, source.DeviceMut:
		return fmt.Sprintf("%s.%s[%s](c, %d)", f.kernel(), views[v.Form], f.typeText(v.Element), i)
	case source.List:
		return f.readList(v, i)
	case source.Sequence:
		return f.readSequence(v, i)
	case source.Object:
		return fmt.Sprintf("%s.Object(c, %d)", className(v.Classes[0]), i)
	case source.Interface:
		return fmt.Sprintf("%s.Interface[%s](c, %d)", f.kernel(), f.typeText(v.Type), i)
	case source.Tree:
		return fmt.Sprintf("%s.Value[%s](c, %d)", f.kernel(), f.typeText(v.Type), i)
	}
	return f.as(v, fmt.Sprintf("c.%s(%d)", methods[v.Form], i))
}

// views and methods are the names of package kernel's functions that read and return values of a form.
var (
	views = map[source.Form]string{
		source.Of: "Of", source.Mut: "Mut", source.DeviceOf: "DeviceOf", source.DeviceMut: "DeviceMut",
	}
	methods = map[source.Form]string{
		source.Bool: "Bool", source.String: "String", source.Bytes: "Bytes", source.DType: "DType",
		source.Device: "Device", source.Callable: "Callable",
	}
)

// readFloat returns the expression that reads a float. A type parameter needs a conversion, since it may also be a tensor's.
func (f *file) readFloat(v source.Value, i int) string {
	if _, param := v.Type.(*types.TypeParam); param {
		return fmt.Sprintf("%s(%s.Float[float64](c, %d))", f.typeText(v.Type), f.kernel(), i)
	}
	return fmt.Sprintf("%s.Float[%s](c, %d)", f.kernel(), f.typeText(v.Type), i)
}

// readSequence returns the expression of a sequence over an iterable. Its elements stay when their batch is gone.
func (f *file) readSequence(v source.Value, i int) string {
	keeps := f.keeps
	f.keeps = true
	batch := f.read(*v.Items, 1)
	f.keeps = keeps
	name := "Sequenced"
	if v.OrError() {
		name = "SequencedOrError"
	}
	text := fmt.Sprintf("%s.%s(c, %d, func(c *%[1]s.Call) []%[4]s { return %[5]s })", f.kernel(), name, i, f.typeText(v.Element), batch)
	if named, own := types.Unalias(v.Type).(*types.Named); own && named.Obj().Pkg().Path() != "iter" {
		return f.typeText(v.Type) + "(" + text + ")"
	}
	return text
}

func (f *file) readList(v source.Value, i int) string {
	switch v.Items.Form {
	case source.Bool, source.String:
		return fmt.Sprintf("c.%ss(%d)", methods[v.Items.Form], i)
	case source.Of, source.Mut:
		return fmt.Sprintf("%s.%sList[%s](c, %d)", f.kernel(), views[v.Items.Form], f.typeText(v.Items.Element), i)
	case source.Object:
		return fmt.Sprintf("%s.Objects(c, %d)", className(v.Items.Classes[0]), i)
	case source.Interface:
		return fmt.Sprintf("%s.Interfaces[%s](c, %d)", f.kernel(), f.typeText(v.Items.Type), i)
	case source.Int:
		return fmt.Sprintf("%s.Ints[%s](c, %d)", f.kernel(), f.typeText(v.Items.Type), i)
	}
	return fmt.Sprintf("%s.Floats[%s](c, %d)", f.kernel(), f.typeText(v.Items.Type), i)
}

// as converts an expression of a basic type to the author's own named type.
func (f *file) as(v source.Value, expression string) string {
	if _, own := types.Unalias(v.Type).(*types.Named); own && (v.Form == source.Bool || v.Form == source.String) {
		return f.typeText(v.Type) + "(" + expression + ")"
	}
	return expression
}

// result returns the statement that returns a value of v's form.
func (f *file) result(v source.Value, name string) string {
	switch v.Form {
	case source.Bool:
		return fmt.Sprintf("c.ReturnBool(bool(%s))", name)
	case source.Int:
		if v.Type.Underlying().(*types.Basic).Info()&types.IsUnsigned != 0 {
			return fmt.Sprintf("c.ReturnUint(uint64(%s))", name)
		}
		return fmt.Sprintf("c.ReturnInt(int64(%s))", name)
	case source.Float:
		return fmt.Sprintf("c.ReturnFloat(float64(%s))", name)
	case source.String:
		return fmt.Sprintf("c.ReturnString(string(%s))", name)
	case source.Of:
		return fmt.Sprintf("%s.Return(c, %s)", f.kernel(), name)
	case source.Mut, source.DeviceOf, source.DeviceMut:
		return fmt.Sprintf("%s.Return%s(c, %s)", f.kernel(), views[v.Form], name)
	case source.List:
		return f.resultList(v, name)
	case source.Object:
		return fmt.Sprintf("%s.Return(c, %s)", className(v.Classes[0]), name)
	case source.Interface:
		return fmt.Sprintf("%s.ReturnInterface(c, %s)", f.kernel(), name)
	case source.Tree:
		return fmt.Sprintf("%s.ReturnValue(c, %s)", f.kernel(), name)
	}
	return fmt.Sprintf("c.Return%s(%s)", methods[v.Form], name)
}

func (f *file) resultList(v source.Value, name string) string {
	switch v.Items.Form {
	case source.Bool, source.String:
		return fmt.Sprintf("c.Return%ss(%s)", methods[v.Items.Form], name)
	case source.Of:
		return fmt.Sprintf("%s.ReturnList(c, %s)", f.kernel(), name)
	case source.Mut:
		return fmt.Sprintf("%s.ReturnMutList(c, %s)", f.kernel(), name)
	case source.Object:
		return fmt.Sprintf("%s.ReturnList(c, %s)", className(v.Items.Classes[0]), name)
	case source.Interface:
		return fmt.Sprintf("%s.ReturnInterfaces(c, %s)", f.kernel(), name)
	case source.Int:
		return fmt.Sprintf("%s.ReturnInts(c, %s)", f.kernel(), name)
	}
	return fmt.Sprintf("%s.ReturnFloats(c, %s)", f.kernel(), name)
}
