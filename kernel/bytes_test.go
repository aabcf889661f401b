package kernel_test

import (
	"testing"

	"godlpack/dlpack"
	"godlpack/kernel"
)

func TestBytesAreATensor(t *testing.T) {
	text := []byte("text")
	uint8s := []dlpack.DType{dlpack.UInt8}
	params := []kernel.Param{tensorOf("a", uint8s, "n"), tensorOf("b", nil), {Name: "c", Kind: kernel.KindTensor, DTypes: float32s, Convert: true}}
	elem := tensorOf("", uint8s, "*")
	params = append(params, kernel.Param{Name: "d", Kind: kernel.KindList, Elem: &elem})
	run(t, params, func(c *kernel.Call) {
		equal(t, "bytes", kernel.Of[uint8](c, 0).Slice(), text)
		equal(t, "dtype", c.TypeOf(1), dlpack.UInt8)
		equal(t, "empty", kernel.Of[uint8](c, 1).Len(), 0)
		equal(t, "converted", kernel.Of[float32](c, 2).Slice(), []float32{1, 255})
		list := kernel.OfList[uint8](c, 3)
		equal(t, "list", []any{string(list[0].Slice()), string(list[1].Slice())}, []any{"x", "yz"})
	}, text, []byte{}, []byte{1, 255}, []any{[]byte("x"), []byte("yz")})
}

func TestBytesAreRefusedAsTensors(t *testing.T) {
	writable := tensorOf("x", nil)
	writable.Mutable = true
	for want, param := range map[string]kernel.Param{
		"BufferError: f(): argument 'x': want any[...] on cpu, writable, got bytes, which are read-only; use a bytearray": writable,
		"TypeError: f(): argument 'x': want float32[n] on cpu, got uint8[2] on cpu":                                       tensorOf("x", float32s, "n"),
		"ValueError: f(): argument 'x': want uint8[3] on cpu, got uint8[2] on cpu":                                        tensorOf("x", []dlpack.DType{dlpack.UInt8}, "3"),
	} {
		f := prepare(t, kernel.Func{Params: []kernel.Param{param}, Do: nothing})
		if err := newCall([]byte("ab")).of(f, newHost()); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
