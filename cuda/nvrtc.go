package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"godlpack/dlpack"
)

// CompilerVariable is the environment variable with the file to compile with instead of libnvrtc.so.
const CompilerVariable = "GODLPACK_LIBNVRTC"

// ErrNoCompiler is the error of Compile without NVRTC: neither on the loader's path, nor loaded already by another library of
// the process, as torch does.
var ErrNoCompiler = errors.New("NVRTC, the compiler of CUDA C, is not available")

// compiler holds the functions of NVRTC.
type compiler struct {
	library                                              library
	create, destroy, compile, ptxSize, ptx, logSize, log uintptr
}

var defaultCompiler = sync.OnceValues(findCompiler)

func findCompiler() (*compiler, error) {
	found, err := load(CompilerVariable, "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2")
	if err != nil {
		return nil, dlpack.Errorf(dlpack.KindRuntime, "%w: %s", ErrNoCompiler, err)
	}
	return newCompiler(found)
}

func newCompiler(l library) (*compiler, error) {
	c := &compiler{library: l}
	for name, place := range map[string]*uintptr{
		"nvrtcCreateProgram": &c.create, "nvrtcDestroyProgram": &c.destroy, "nvrtcCompileProgram": &c.compile,
		"nvrtcGetPTXSize": &c.ptxSize, "nvrtcGetPTX": &c.ptx, "nvrtcGetProgramLogSize": &c.logSize, "nvrtcGetProgramLog": &c.log,
	} {
		if *place = l.symbol(name); *place == 0 {
			return nil, dlpack.Errorf(dlpack.KindRuntime, "%w: it has no function %s", ErrNoCompiler, name)
		}
	}
	return c, nil
}

// Compile compiles CUDA C to PTX. The name is for messages. Options are NVRTC's: "--gpu-architecture=compute_90",
// "--std=c++17". The error includes the compiler's log about bad source.
func Compile(source, name string, options ...string) (ptx []byte, err error) {
	c, err := defaultCompiler()
	if err != nil {
		return nil, err
	}
	return c.translate(source, name, options)
}

// Compile compiles CUDA C for the device, and loads it. It is cuda.Compile with the device's architecture, and LoadModule.
func (dev *Device) Compile(source, name string, options ...string) (*Module, error) {
	major, minor, err := dev.ComputeCapability()
	if err != nil {
		return nil, err
	}
	options = slices.Concat([]string{fmt.Sprintf("--gpu-architecture=compute_%d%d", major, minor)}, options)
	ptx, err := Compile(source, name, options...)
	if err != nil {
		return nil, err
	}
	return dev.LoadModule(ptx)
}

func (c *compiler) translate(source, name string, options []string) ([]byte, error) {
	var program uintptr
	text, title := zeroTerminated(source), zeroTerminated(name)
	if err := c.call("nvrtcCreateProgram", c.create, uintptr(unsafe.Pointer(&program)), uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(title)), 0, 0, 0); err != nil {
		return nil, err
	}
	defer func() { _ = c.call("nvrtcDestroyProgram", c.destroy, uintptr(unsafe.Pointer(&program))) }()
	if err := c.build(program, options); err != nil {
		log, _ := c.read("nvrtcGetProgramLog", c.logSize, c.log, program)
		return nil, explain(err, dlpack.KindValue, log)
	}
	return c.read("nvrtcGetPTX", c.ptxSize, c.ptx, program)
}

func (c *compiler) build(program uintptr, options []string) error {
	words := make([]*byte, len(options)+1)
	for i, option := range options {
		words[i] = zeroTerminated(option)
	}
	return c.call("nvrtcCompileProgram", c.compile, program, uintptr(len(options)), uintptr(unsafe.Pointer(&words[0])))
}

// read returns a text of NVRTC, without the zero byte at its end.
func (c *compiler) read(name string, size, get, program uintptr) ([]byte, error) {
	var n uintptr
	if err := c.call(name+"Size", size, program, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	text := make([]byte, n+1)
	if err := c.call(name, get, program, uintptr(unsafe.Pointer(&text[0]))); err != nil {
		return nil, err
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	return text, nil
}

// call calls a function of NVRTC; see Driver.call.
//
//go:uintptrescapes
func (c *compiler) call(name string, f uintptr, args ...uintptr) error {
	r := c.library.call(f, args)
	if r == 0 {
		return nil
	}
	return dlpack.Errorf(dlpack.KindRuntime, "%w", &Error{Call: name, Result: Result(r), Name: compilerResults[r]})
}

// compilerResults are NVRTC's own names for its errors.
var compilerResults = map[int32]string{
	1: "NVRTC_ERROR_OUT_OF_MEMORY", 2: "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", 3: "NVRTC_ERROR_INVALID_INPUT",
	4: "NVRTC_ERROR_INVALID_PROGRAM", 5: "NVRTC_ERROR_INVALID_OPTION", 6: "NVRTC_ERROR_COMPILATION", 7: "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
}
