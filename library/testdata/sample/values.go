package main

import (
	"slices"
	"strings"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/tensor"
)

func init() {
	byDefault := func(p kernel.Param, value any) kernel.Param {
		p.Default = kernel.DefaultOf(value)
		return p
	}
	register("join", "join puts words together.",
		params{list("words", of("", kernel.KindString)), byDefault(of("by", kernel.KindString), "-")}, params{of("", kernel.KindString)},
		func(c *kernel.Call) error {
			c.ReturnString(strings.Join(c.Strings(0), c.String(1)))
			return nil
		})
	register("words", "words takes text apart.",
		params{of("text", kernel.KindString)}, params{list("", of("", kernel.KindString))},
		func(c *kernel.Call) error {
			c.ReturnStrings(strings.Fields(c.String(0)))
			return nil
		})
	register("reversed", "reversed returns data from its end.",
		params{of("data", kernel.KindBytes)}, params{of("", kernel.KindBytes)},
		func(c *kernel.Call) error {
			data := slices.Clone(c.Bytes(0))
			slices.Reverse(data)
			c.ReturnBytes(data)
			return nil
		})
	register("divmod", "divmod returns quotient and remainder.",
		params{of("a", kernel.KindInt), byDefault(of("b", kernel.KindInt), 10)}, params{of("quotient", kernel.KindInt), of("remainder", kernel.KindInt)},
		func(c *kernel.Call) error {
			a, b := kernel.Int[int64](c, 0), kernel.Int[int64](c, 1)
			if b == 0 {
				return kernel.Errorf(kernel.ValueError, "want a divisor, got 0")
			}
			c.ReturnInt(a / b)
			c.ReturnInt(a % b)
			return nil
		})
	small := of("x", kernel.KindInt)
	small.Bits, small.Unsigned = 8, true
	register("inverted", "inverted returns x with all its bits turned.",
		params{small}, params{of("", kernel.KindInt)},
		func(c *kernel.Call) error {
			c.ReturnUint(uint64(^kernel.Int[uint8](c, 0)))
			return nil
		})
	register("every", "every reports whether all are true.",
		params{list("x", of("", kernel.KindBool))}, params{of("", kernel.KindBool)},
		func(c *kernel.Call) error {
			c.ReturnBool(!slices.Contains(c.Bools(0), false))
			return nil
		})
	optional := vector("x", "n")
	optional.Optional = true
	register("given", "given reports whether x is a tensor, and not None.",
		params{byDefault(optional, nil)}, params{of("", kernel.KindBool)},
		func(c *kernel.Call) error {
			c.ReturnBool(c.Given(0))
			return nil
		})
	register("bits", "bits returns how many bits an element has, or None for a handle.",
		params{byDefault(of("dtype", kernel.KindDType), dlpack.Float32)}, params{{Kind: kernel.KindInt, Optional: true}},
		func(c *kernel.Call) error {
			if d := c.DType(0); d.Code == dlpack.CodeOpaqueHandle {
				c.ReturnNone()
			} else {
				c.ReturnInt(int64(d.BitSize(false)))
			}
			return nil
		})
	register("zeros", "zeros returns n zeros on a device.",
		params{of("n", kernel.KindInt), byDefault(of("device", kernel.KindDevice), dlpack.Device{Type: dlpack.CPU})}, params{vector("", "n")},
		func(c *kernel.Call) error {
			if d := c.Device(1); d.Type != dlpack.CPU {
				kernel.ReturnDeviceMut(c, kernel.EmptyOn[float32](c.Ctx(), d, kernel.Int[int64](c, 0)))
			} else {
				kernel.ReturnMut(c, kernel.Zeros[float32](c.Ctx(), kernel.Int[int64](c, 0)))
			}
			return nil
		})
	register("stream", "stream returns the stream that the caller works on. It may ask in a goroutine of its own.",
		params{of("device", kernel.KindDevice), byDefault(of("elsewhere", kernel.KindBool), false)}, params{of("", kernel.KindInt)},
		func(c *kernel.Call) (err error) {
			stream, ctx, device, done := uintptr(0), c.Ctx(), c.Device(0), make(chan bool)
			ask := func() { stream, err = ctx.Stream(device) }
			if c.Bool(1) {
				go func() { ask(); close(done) }()
				<-done
			} else {
				ask()
			}
			c.ReturnInt(int64(stream))
			return err
		})
	register("apply", "apply returns f(x, n, a new tensor), and what kind of value that is.",
		params{of("f", kernel.KindCallable), vector("x", "n")}, params{of("", kernel.KindString), of("", kernel.KindFloat)},
		func(c *kernel.Call) error {
			result, err := c.Callable(0).Call(kernel.Of[float32](c, 1), kernel.Of[float32](c, 1).Len(), kernel.Zeros[float32](c.Ctx(), 2), "text")
			if err != nil {
				return err
			}
			name, value, err := described(result)
			if err != nil {
				return err
			}
			c.ReturnString(name)
			c.ReturnFloat(value)
			return nil
		})
}

// described is a callback's result as a kind and a number.
func described(result any) (kind string, value float64, err error) {
	switch v := result.(type) {
	case nil:
		return "none", 0, nil
	case bool:
		return "bool", 0, nil
	case int64:
		return "int", float64(v), nil
	case float64:
		return "float", v, nil
	case string:
		return "str " + v, float64(len(v)), nil
	case []any:
		return "list", float64(len(v)), nil
	case *dlpack.Tensor:
		x, err := tensor.View[float32](v)
		if err != nil {
			return "", 0, err
		}
		return "tensor", sum(x), nil
	}
	return "", 0, kernel.Errorf(kernel.TypeError, "want a result that apply knows, got a %T", result)
}
