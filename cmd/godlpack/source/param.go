package source

import (
	"go/types"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// sizes are the sizes of types on godlpack's platforms, which have 64 bits.
var sizes = &types.StdSizes{WordSize: 8, MaxAlign: 8}

// param returns the declaration of a parameter or result.
func (r *reader) param(fn *Func, v Value, id field) kernel.Param {
	p := kernel.Param{Kind: kinds[v.Form], Optional: v.Pointer, Classes: v.classNames(), Type: v.Schema}
	switch {
	case v.Form == Int:
		p.Bits, p.Unsigned = intRange(v.Type)
	case v.Form == Float && isTypeParam(v.Type):
		p.Bits = 64
	case v.Form == Float:
		p.Bits = 8 * int(sizes.Sizeof(v.Type))
	case v.Form == List:
		items := r.param(fn, *v.Items, id)
		p.Elem = &items
	case v.Form.Tensor():
		r.tensor(&p, fn, v, id)
	}
	return p
}

// intRange returns the width of an integer type.
func intRange(t types.Type) (bits int, unsigned bool) {
	return 8 * int(sizes.Sizeof(t)), t.Underlying().(*types.Basic).Info()&types.IsUnsigned != 0
}

// tensor sets the dtypes and the device that a tensor may have.
func (r *reader) tensor(p *kernel.Param, fn *Func, v Value, id field) {
	p.Mutable = v.Form == Mut || v.Form == DeviceMut
	if v.Form == DeviceOf || v.Form == DeviceMut {
		p.Device = "any"
	}
	for _, param := range fn.TypeParams {
		if isTypeParam(v.Element) && v.Element.String() == param.Name {
			p.Var, p.DTypes = param.Name, dtypes(param.Elements)
			return
		}
	}
	if e, ok := elementOf(v.Element); ok {
		p.DTypes = []dlpack.DType{e.DType}
		return
	}
	if !isTypeParam(v.Element) { // the error of a type parameter was reported before
		r.add(id.at, "a tensor of %s: want a type that tensor.Element lists, or a type parameter", r.typeText(v.Element))
	}
}
