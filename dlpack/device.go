package dlpack

import (
	"fmt"
	"strconv"
	"strings"
)

// DeviceType is DLDeviceType: the kind of a tensor's memory.
type DeviceType int32

// The device types of DLPack 1.3, and later ones.
const (
	CPU         DeviceType = 1
	CUDA        DeviceType = 2
	CUDAHost    DeviceType = 3 // host memory pinned by CUDA
	OpenCL      DeviceType = 4
	Vulkan      DeviceType = 7
	Metal       DeviceType = 8
	VPI         DeviceType = 9
	ROCm        DeviceType = 10
	ROCmHost    DeviceType = 11 // host memory pinned by ROCm
	ExtDev      DeviceType = 12
	CUDAManaged DeviceType = 13 // memory that both the host and a GPU can access
	OneAPI      DeviceType = 14
	WebGPU      DeviceType = 15
	Hexagon     DeviceType = 16
	MAIA        DeviceType = 17
	Trn         DeviceType = 18
	TPU         DeviceType = 19 // this and the following ones are later than 1.3
	TPUHost     DeviceType = 20 // host memory pinned for a TPU
	Ascend      DeviceType = 21
)

// A deviceRow describes one device type.
type deviceRow struct {
	kind  DeviceType
	name  string
	cName string
	host  bool // the host can read the memory through its address
	plain bool // data is an address, and byte_offset may be added to it
}

var deviceRows = []deviceRow{
	{CPU, "cpu", "kDLCPU", true, true},
	{CUDA, "cuda", "kDLCUDA", false, true},
	{CUDAHost, "cuda_host", "kDLCUDAHost", true, true},
	{OpenCL, "opencl", "kDLOpenCL", false, false},
	{Vulkan, "vulkan", "kDLVulkan", false, false},
	{Metal, "metal", "kDLMetal", false, false},
	{VPI, "vpi", "kDLVPI", false, false},
	{ROCm, "rocm", "kDLROCM", false, true},
	{ROCmHost, "rocm_host", "kDLROCMHost", true, true},
	{ExtDev, "ext_dev", "kDLExtDev", false, false},
	{CUDAManaged, "cuda_managed", "kDLCUDAManaged", true, true},
	{OneAPI, "oneapi", "kDLOneAPI", false, true},
	{WebGPU, "webgpu", "kDLWebGPU", false, false},
	{Hexagon, "hexagon", "kDLHexagon", false, false},
	{MAIA, "maia", "kDLMAIA", false, false},
	{Trn, "trn", "kDLTrn", false, false},
	{TPU, "tpu", "kDLTPU", false, false},
	{TPUHost, "tpu_host", "kDLTPUHost", true, true},
	{Ascend, "ascend", "kDLAscend", false, false},
}

func (d DeviceType) row() (row deviceRow, known bool) {
	for _, row := range deviceRows {
		if row.kind == d {
			return row, true
		}
	}
	return deviceRow{}, false
}

// DeviceTypes returns all known device types, in the order of their codes.
func DeviceTypes() []DeviceType {
	all := make([]DeviceType, len(deviceRows))
	for i, row := range deviceRows {
		all[i] = row.kind
	}
	return all
}

// Known reports whether DLPack defines d. A consumer must reject any other (R35).
func (d DeviceType) Known() bool {
	_, known := d.row()
	return known
}

// HostReadable reports whether the host can read memory of this type through its address:
// plain, pinned and managed memory.
func (d DeviceType) HostReadable() bool {
	row, _ := d.row()
	return row.host
}

// PointerData reports whether Tensor.Data is an address on this device, to which ByteOffset may be added. Otherwise (a cl_mem,
// a VkBuffer, ...) it is an opaque handle, and the offset must be passed separately.
func (d DeviceType) PointerData() bool {
	row, _ := d.row()
	return row.plain
}

// String returns "cuda" for CUDA, and "device99" for a code that DLPack does not define.
func (d DeviceType) String() string {
	if row, known := d.row(); known {
		return row.name
	}
	return "device" + strconv.Itoa(int(d))
}

// Device is DLDevice: one device of a type. 8 bytes.
type Device struct {
	Type DeviceType `c:"device_type"`
	ID   int32      `c:"device_id"` // 0 for plain, pinned and managed memory (R30)
}

// Host is the memory that every CPU can access: "cpu", whose only number is 0 (R30).
var Host = Device{Type: CPU}

// String returns "cuda:1". The name of the host's memory omits its id 0 ("cpu", "cuda_host").
func (d Device) String() string {
	if d.ID == 0 && d.Type.HostReadable() {
		return d.Type.String()
	}
	return fmt.Sprintf("%v:%d", d.Type, d.ID)
}

// NewDevice returns the device of a type and an id. A type that DLPack does not define, or a negative id, is a ValueError.
func NewDevice(typ, id int64) (Device, error) {
	d := Device{Type: DeviceType(typ), ID: int32(id)}
	if int64(d.Type) != typ || !d.Type.Known() || int64(d.ID) != id || d.ID < 0 {
		return d, Errorf(KindValue, "want a device type of DLPack and an id >= 0, got (%d, %d)", typ, id)
	}
	return d, nil
}

// ParseDevice reads a device's name: "cpu", "cuda" (the first one) or "cuda:1". It accepts all results of String. A ValueError
// describes the expected form.
func ParseDevice(name string) (Device, error) {
	kind, id, hasID := strings.Cut(name, ":")
	for _, row := range deviceRows {
		if row.name != kind {
			continue
		}
		if !hasID {
			return Device{Type: row.kind}, nil
		}
		n, err := strconv.ParseUint(id, 10, 31)
		if err != nil {
			return Device{}, Errorf(KindValue, "device %q: want a number from 0 to 2147483647 after the colon, got %q", name, id)
		}
		return Device{Type: row.kind, ID: int32(n)}, nil
	}
	return Device{}, Errorf(KindValue, "device %q: want one of %s, with or without :id", name, deviceNames())
}

func deviceNames() string {
	names := make([]string, len(deviceRows))
	for i, row := range deviceRows {
		names[i] = row.name
	}
	return strings.Join(names, ", ")
}
