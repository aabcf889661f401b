package dlpack_test

import (
	"math"
	"testing"

	"godlpack/dlpack"
)

func TestDeviceNames(t *testing.T) {
	for _, c := range []struct {
		device dlpack.Device
		name   string
	}{
		{dlpack.Device{Type: dlpack.CPU}, "cpu"},
		{dlpack.Device{Type: dlpack.CPU, ID: 3}, "cpu:3"},
		{dlpack.Device{Type: dlpack.CUDA}, "cuda:0"},
		{dlpack.Device{Type: dlpack.CUDA, ID: 1}, "cuda:1"},
		{dlpack.Device{Type: dlpack.CUDAHost}, "cuda_host"},
		{dlpack.Device{Type: dlpack.ROCmHost}, "rocm_host"},
		{dlpack.Device{Type: dlpack.CUDAManaged}, "cuda_managed"},
		{dlpack.Device{Type: dlpack.Trn, ID: math.MaxInt32}, "trn:2147483647"},
	} {
		if got := c.device.String(); got != c.name {
			t.Errorf("want %q, got %q", c.name, got)
		}
		if got, err := dlpack.ParseDevice(c.name); err != nil || got != c.device {
			t.Errorf("ParseDevice(%q): want %v, got %v, %v", c.name, c.device, got, err)
		}
	}
	if got := (dlpack.Device{Type: 99, ID: -1}).String(); got != "device99:-1" {
		t.Errorf("want device99:-1, got %q", got)
	}
}

func TestParseDevice(t *testing.T) {
	if got, err := dlpack.ParseDevice("cuda"); err != nil || got != (dlpack.Device{Type: dlpack.CUDA}) {
		t.Errorf("want cuda:0, got %v, %v", got, err)
	}
	for name, message := range map[string]string{
		"cuda:":           `device "cuda:": want a number from 0 to 2147483647 after the colon, got ""`,
		"cuda:-1":         `device "cuda:-1": want a number from 0 to 2147483647 after the colon, got "-1"`,
		"cuda:2147483648": `device "cuda:2147483648": want a number from 0 to 2147483647 after the colon, got "2147483648"`,
		"gpu": `device "gpu": want one of cpu, cuda, cuda_host, opencl, vulkan, metal, vpi, rocm, rocm_host, ext_dev, ` +
			`cuda_managed, oneapi, webgpu, hexagon, maia, trn, tpu, tpu_host, ascend, with or without :id`,
	} {
		_, err := dlpack.ParseDevice(name)
		checkError(t, name, err, dlpack.KindValue, message)
	}
	for _, name := range []string{"", ":0", "CPU", "cpu 0", "device99"} {
		if d, err := dlpack.ParseDevice(name); dlpack.KindOf(err) != dlpack.KindValue {
			t.Errorf("ParseDevice(%q): want a ValueError, got %v, %v", name, d, err)
		}
	}
}

func TestNewDevice(t *testing.T) {
	for _, pair := range [][2]int64{{1, 0}, {2, 7}, {19, math.MaxInt32}} {
		d, err := dlpack.NewDevice(pair[0], pair[1])
		if want := (dlpack.Device{Type: dlpack.DeviceType(pair[0]), ID: int32(pair[1])}); err != nil || d != want {
			t.Errorf("NewDevice(%d, %d): want %v, got %v, %v", pair[0], pair[1], want, d, err)
		}
	}
	for _, pair := range [][2]int64{{0, 0}, {-1, 0}, {1, -1}, {99, 0}, {1 << 32, 0}, {1<<32 + 1, 0}, {1, 1 << 32}, {1, math.MinInt64}} {
		if d, err := dlpack.NewDevice(pair[0], pair[1]); dlpack.KindOf(err) != dlpack.KindValue {
			t.Errorf("NewDevice(%d, %d): want a ValueError, got %v, %v", pair[0], pair[1], d, err)
		}
	}
}

func TestDeviceTypes(t *testing.T) {
	all := dlpack.DeviceTypes()
	if len(all) != 19 {
		t.Errorf("want 19 device types, got %d", len(all))
	}
	for _, d := range all {
		if !d.Known() {
			t.Errorf("%v: want a known type", d)
		}
		if d.HostReadable() && !d.PointerData() {
			t.Errorf("%v: host memory has addresses", d)
		}
	}
	for _, d := range []dlpack.DeviceType{-1, 0, 5, 6, 22} {
		if d.Known() || d.HostReadable() || d.PointerData() {
			t.Errorf("%v: want an unknown type", d)
		}
	}
	if dlpack.CUDA.HostReadable() || dlpack.OpenCL.PointerData() || !dlpack.OneAPI.PointerData() {
		t.Error("cuda is not host memory, opencl has handles, oneapi has addresses")
	}
}

func TestFlagsAndVersion(t *testing.T) {
	for flags, want := range map[dlpack.Flags]string{
		0:                                 "0",
		dlpack.ReadOnly:                   "read_only",
		dlpack.ReadOnly | dlpack.IsCopied: "read_only|is_copied",
		7:                                 "read_only|is_copied|subbyte_padded",
		1<<63 | dlpack.SubbytePadded:      "subbyte_padded|0x8000000000000000",
		8:                                 "0x8",
	} {
		if got := flags.String(); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	if f := dlpack.ReadOnly | dlpack.IsCopied; !f.Has(dlpack.IsCopied) || f.Has(dlpack.IsCopied|dlpack.SubbytePadded) {
		t.Errorf("%v: Has is wrong", f)
	}
	later, other := dlpack.Version{Major: 1, Minor: 99}, dlpack.Version{Major: 2}
	if dlpack.Current.String() != "1.3" || !dlpack.Current.Compatible(later) || dlpack.Current.Compatible(other) {
		t.Errorf("%v must read %v and not %v", dlpack.Current, later, other)
	}
}
