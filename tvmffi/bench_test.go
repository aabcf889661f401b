package tvmffi

import (
	"testing"

	"godlpack/kernel"
	"godlpack/packed"
)

func BenchmarkCall(b *testing.B) {
	f, err := kernel.Prepare(kernel.Func{
		Name: "add", Params: []kernel.Param{{Name: "a", Kind: kernel.KindInt}}, Results: []kernel.Param{{Kind: kernel.KindInt}},
		Do: func(c *kernel.Call) error {
			c.ReturnInt(kernel.Int[int64](c, 0) + 1)
			return nil
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	bridge := &bridge{ffi: &library{}, functions: []*kernel.Func{f}}
	args, result := []packed.Any{{Index: packed.AnyInt, Value: 41}}, packed.Any{}
	b.ReportAllocs()
	for b.Loop() {
		if bridge.call(0, 0, args, &result) != 0 || result.Value != 42 {
			b.Fatal(result)
		}
	}
}
