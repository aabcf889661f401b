package cuda

import (
	"errors"
	"os"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"godlpack/dlpack"
)

// library gives access to a C library's functions: libcuda itself, or a test's substitute.
type library interface {
	symbol(name string) uintptr // its address, 0 if the library has none of that name
	call(address uintptr, args []uintptr) int32
}

// loaded is a library that the dynamic loader found.
type loaded struct{ handle uintptr }

func (l loaded) symbol(name string) uintptr {
	address, _ := purego.Dlsym(l.handle, name) // 0 reports the error
	return address
}

// call passes only integers and addresses: CUDA's functions take no others. RegisterFunc would cost three times as much.
func (loaded) call(address uintptr, args []uintptr) int32 {
	result, _, _ := purego.SyscallN(address, args...)
	return int32(result)
}

// load opens the first of the named files that the loader finds, or only the file in the environment variable if that is set.
// The library stays open for the life of the process.
func load(variable string, names ...string) (library, error) {
	if name := environment(variable); name != "" {
		names = []string{name}
	}
	var refusals []string
	for _, name := range names {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return loaded{handle}, nil
		}
		refusals = append(refusals, err.Error())
	}
	return nil, errors.New(strings.Join(refusals, "; "))
}

// environment reads a variable of the process. Go has those from the start of the process and those that Go set; a library in a
// foreign process gets the rest from libc.
func environment(variable string) string {
	if value, set := os.LookupEnv(variable); set {
		return value
	}
	getenv, err := purego.Dlsym(purego.RTLD_DEFAULT, "getenv")
	if err != nil {
		return ""
	}
	value, _, _ := purego.SyscallN(getenv, uintptr(unsafe.Pointer(zeroTerminated(variable))))
	if value == 0 {
		return ""
	}
	return cText(*(**byte)(unsafe.Pointer(&value))) // an address of C's, in a form that vet accepts
}

// cText copies a C string, which ends with a zero byte.
func cText(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// zeroTerminated returns a text as a C string.
func zeroTerminated(text string) *byte {
	return unsafe.SliceData(append([]byte(text), 0))
}

func missing(name string) error {
	return dlpack.Errorf(dlpack.KindRuntime, "the CUDA driver has no function %s: it is too old", name)
}
