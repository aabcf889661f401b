package elementwise

import (
	"runtime"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
	"godlpack/tensor"
)

// Place is a tensor's record with its flags.
type Place struct {
	record *dlpack.Tensor
	flags  dlpack.Flags
}

// At returns a tensor as a Place. The record must be valid (Tensor.Validate); only the flags ReadOnly and SubbytePadded
// have an effect.
func At(record *dlpack.Tensor, flags dlpack.Flags) Place { return Place{record, flags} }

func (p Place) padded() bool { return p.flags.Has(dlpack.SubbytePadded) }

var (
	copying = prepare("copy", func(c *kernel.Call) error {
		dst, src := place(c, 0), place(c, 1)
		return pieces(c.Ctx(), dst, &src, func(to, from *dlpack.Tensor) error {
			return tensor.Copy(to, from, dst.padded())
		})
	})
	converting = prepare("astype", func(c *kernel.Call) error {
		dst, src := place(c, 0), place(c, 1)
		return pieces(c.Ctx(), dst, &src, func(to, from *dlpack.Tensor) error {
			return tensor.Convert(to, from, dst.padded(), src.padded())
		})
	})
	filling = prepare("fill", func(c *kernel.Call) error {
		dst, src := place(c, 0), place(c, 1)
		value := tensor.Load(src.record, src.padded(), 0)
		return pieces(c.Ctx(), dst, nil, func(to, _ *dlpack.Tensor) error {
			return tensor.Fill(to, dst.padded(), value)
		})
	})
)

// prepare declares a kernel that sets the elements of its first argument from its second.
func prepare(name string, do func(*kernel.Call) error) *kernel.Func {
	f, err := kernel.Prepare(kernel.Func{
		Name: name,
		Params: []kernel.Param{
			{Name: "dst", Kind: kernel.KindTensor, Mutable: true, MayOverlap: true, Untyped: true},
			{Name: "src", Kind: kernel.KindTensor, Untyped: true},
		},
		Do: do,
	})
	if err != nil {
		panic(err)
	}
	return f
}

// Copy sets the elements of dst to those of src; see tensor.Copy. It returns the error that stopped it: the kernel's or the
// caller's.
func Copy(caller Caller, dst, src Place) error { return run(copying, caller, dst, src) }

// Convert sets the elements of dst to those of src, as values of dst's type; see tensor.Convert.
func Convert(caller Caller, dst, src Place) error { return run(converting, caller, dst, src) }

// Fill sets the elements of dst to the one element of value, a tensor of the same dtype without axes.
func Fill(caller Caller, dst, value Place) error { return run(filling, caller, dst, value) }

// run calls a kernel in the packed convention.
func run(f *kernel.Func, caller Caller, dst, src Place) error {
	args := packed.Slices(
		[]packed.Value{packed.Tensor(dst.record).Value, packed.Tensor(src.record).Value},
		[]packed.Code{packed.CodeTensor, packed.CodeTensor},
		[]dlpack.Flags{dst.flags | packed.Checked, src.flags | packed.Checked},
	)
	var value packed.Value
	var code packed.Code
	err := f.Call(args, &packed.Ret{Value: &value, Code: &code}, host{poll: caller})
	runtime.KeepAlive(dst.record) // Go's collector does not follow the pointer in a Value
	runtime.KeepAlive(src.record)
	return err
}

func place(c *kernel.Call, i int) Place {
	record, flags := c.Tensor(i)
	return Place{record, flags}
}
