package biasgelu

import (
	_ "embed" // the kernel
	"errors"
	"sync"

	"godlpack/cuda"
	"godlpack/dlpack"
)

//go:embed gelu.cu
var source string

// compiled is the PTX of source for all devices from compute capability 7.5 on: the driver compiles it for the device.
//
//go:embed gelu.ptx
var compiled []byte

// kernels are the kernels of gelu.cu on one device. They stay loaded until the process ends.
type kernels struct {
	device *cuda.Device
	of     map[dlpack.DType]cuda.Function
}

// loaded are the kernels of each device that was used.
var loaded struct {
	sync.Mutex
	on map[dlpack.Device]*kernels
}

// kernelsOn returns the kernels of a device; the first call loads them. After an error the next call tries again.
func kernelsOn(device dlpack.Device) (*kernels, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if k, ok := loaded.on[device]; ok {
		return k, nil
	}
	k, err := load(device)
	if err != nil {
		return nil, err
	}
	if loaded.on == nil {
		loaded.on = map[dlpack.Device]*kernels{}
	}
	loaded.on[device] = k
	return k, nil
}

// load compiles the kernels for a device, or uses the PTX if there is no NVRTC.
func load(device dlpack.Device) (*kernels, error) {
	dev, err := cuda.Open(int(device.ID))
	if err != nil {
		return nil, err
	}
	module, err := dev.Compile(source, "gelu.cu")
	if errors.Is(err, cuda.ErrNoCompiler) {
		module, err = dev.LoadModule(compiled)
	}
	if err != nil {
		return nil, err
	}
	k := &kernels{dev, map[dlpack.DType]cuda.Function{}}
	for _, d := range []dlpack.DType{dlpack.Float32, dlpack.Float16} {
		if k.of[d], err = module.Function("bias_gelu_" + d.String()); err != nil {
			return nil, errors.Join(err, module.Close())
		}
	}
	return k, nil
}
