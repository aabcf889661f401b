package kernel_test

import (
	"errors"
	"testing"

	"godlpack/dlpack"
	"godlpack/kernel"
)

func TestStream(t *testing.T) {
	host, asked := newHost(), []dlpack.Device{}
	host.stream = func(d dlpack.Device) (uintptr, error) {
		asked = append(asked, d)
		if d.ID == 7 {
			return 0, kernel.ErrRaised
		}
		return 0x1230, nil
	}
	var kept *kernel.Ctx
	f := prepare(t, kernel.Func{
		Params: []kernel.Param{{Name: "d", Kind: kernel.KindDevice}}, Results: []kernel.Param{{Kind: kernel.KindInt}},
		Do: func(c *kernel.Call) error {
			kept = c.Ctx()
			stream, err := kept.Stream(c.Device(0))
			c.ReturnInt(int64(stream))
			return err
		},
	})
	gpu := dlpack.Device{Type: dlpack.CUDA, ID: 1}
	c := newCall(gpu)
	if err := c.of(f, host); err != nil || c.result(t, host) != int64(0x1230) || asked[0] != gpu {
		t.Errorf("got %v, asked for %v", err, asked)
	}
	if err := newCall(dlpack.Device{Type: dlpack.CUDA, ID: 7}).of(f, host); !errors.Is(err, kernel.ErrRaised) {
		t.Errorf("a host with an error: got %v", err)
	}
	if _, err := kept.Stream(gpu); err == nil || len(asked) != 2 {
		t.Errorf("after the call: got %v", err)
	}
	if stream, err := (*kernel.Ctx)(nil).Stream(gpu); stream != 0 || err != nil {
		t.Errorf("without a caller: got %d, %v", stream, err)
	}
}
