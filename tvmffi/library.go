package tvmffi

import (
	"unsafe"

	"github.com/ebitengine/purego"

	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/packed"
)

// library is the libtvm_ffi of this process, and the few other functions of libc, by their addresses.
type library struct {
	functionCreate, functionSetGlobal, functionGetGlobal, functionCall uintptr
	anyViewToOwnedAny, objectDecRef, stringFromByteArray               uintptr
	bytesFromByteArray, getTypeInfo, getAllocator, tensorAlloc         uintptr
	tensorFromDLPack, errorCreate, errorSetRaised, errorMoveFromRaised uintptr
	envCheckSignals, getStream, getVersion, alignedAlloc, free         uintptr
}

// open finds libtvm_ffi in the process: among all symbols, where import tvm_ffi puts them, or by its name if it was loaded for
// a library alone. It is never loaded from here. A missing library, or one of another ABI, is a RuntimeError.
func open() (*library, error) {
	l := &library{}
	handle, loadedAlready := uintptr(purego.RTLD_DEFAULT), 0x4 // RTLD_NOLOAD of glibc
	if _, err := purego.Dlsym(handle, "TVMFFIGetVersion"); err != nil {
		handle, err = purego.Dlopen("libtvm_ffi.so", purego.RTLD_NOW|loadedAlready)
		if err != nil {
			return nil, kernel.Errorf(kernel.RuntimeError, "want libtvm_ffi in this process, got none: import tvm_ffi first")
		}
	}
	for name, address := range l.symbols() {
		found, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, kernel.Errorf(kernel.RuntimeError, "libtvm_ffi: want a function %s, got none: another version is needed", name)
		}
		*address = found
	}
	if v := l.version(); v[0] != 0 || v[1] != 1 {
		return nil, kernel.Errorf(kernel.RuntimeError, "libtvm_ffi: want version 0.1, got %d.%d.%d", v[0], v[1], v[2])
	}
	return l, nil
}

// symbols maps the names of all functions to the places of their addresses. Those of libc are found beside any library.
func (l *library) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"TVMFFIFunctionCreate": &l.functionCreate, "TVMFFIFunctionSetGlobal": &l.functionSetGlobal,
		"TVMFFIFunctionGetGlobal": &l.functionGetGlobal, "TVMFFIFunctionCall": &l.functionCall,
		"TVMFFIAnyViewToOwnedAny": &l.anyViewToOwnedAny, "TVMFFIObjectDecRef": &l.objectDecRef,
		"TVMFFIStringFromByteArray": &l.stringFromByteArray, "TVMFFIBytesFromByteArray": &l.bytesFromByteArray,
		"TVMFFIGetTypeInfo": &l.getTypeInfo, "TVMFFIEnvGetDLPackManagedTensorAllocator": &l.getAllocator,
		"TVMFFIEnvTensorAlloc": &l.tensorAlloc, "TVMFFITensorFromDLPackVersioned": &l.tensorFromDLPack,
		"TVMFFIErrorCreate": &l.errorCreate, "TVMFFIErrorSetRaised": &l.errorSetRaised,
		"TVMFFIErrorMoveFromRaised": &l.errorMoveFromRaised, "TVMFFIEnvCheckSignals": &l.envCheckSignals,
		"TVMFFIEnvGetStream": &l.getStream,
		"TVMFFIGetVersion":   &l.getVersion, "aligned_alloc": &l.alignedAlloc, "free": &l.free,
	}
}

// ok makes a call that returns 0 on success. Its arguments are numbers and addresses: those of Go memory stay valid, since the
// conversion is within the call (purego.SyscallN, go:uintptrescapes).
//
//go:uintptrescapes
func ok(function uintptr, args ...uintptr) bool {
	result, _, _ := purego.SyscallN(function, args...)
	return int32(result) == 0
}

func (l *library) version() (v [3]uint32) {
	ok(l.getVersion, uintptr(unsafe.Pointer(&v)))
	return v
}

func (l *library) stream(d dlpack.Device) uintptr {
	stream, _, _ := purego.SyscallN(l.getStream, uintptr(d.Type), uintptr(d.ID))
	return stream
}

func (l *library) newFunction(handle uintptr) (f *object) {
	ok(l.functionCreate, handle, safeCall(), 0, uintptr(unsafe.Pointer(&f)))
	return f
}

func (l *library) setGlobal(name string, f *object) bool {
	const override = 1
	b := arrayOf(unsafe.StringData(name), len(name))
	return ok(l.functionSetGlobal, uintptr(unsafe.Pointer(b)), uintptr(unsafe.Pointer(f)), override)
}

func (l *library) global(name string) (f *object) {
	b := arrayOf(unsafe.StringData(name), len(name))
	ok(l.functionGetGlobal, uintptr(unsafe.Pointer(b)), uintptr(unsafe.Pointer(&f)))
	return f
}

func (l *library) callFunction(f *object, args []packed.Any, result *packed.Any) bool {
	return ok(l.functionCall, uintptr(unsafe.Pointer(f)), uintptr(unsafe.Pointer(unsafe.SliceData(args))), uintptr(len(args)),
		uintptr(unsafe.Pointer(result)))
}

func (l *library) own(view, result *packed.Any) bool {
	return ok(l.anyViewToOwnedAny, uintptr(unsafe.Pointer(view)), uintptr(unsafe.Pointer(result)))
}

func (l *library) release(o *object) { ok(l.objectDecRef, uintptr(unsafe.Pointer(o))) }

func (l *library) newText(text string, result *packed.Any) bool {
	b := arrayOf(unsafe.StringData(text), len(text))
	return ok(l.stringFromByteArray, uintptr(unsafe.Pointer(b)), uintptr(unsafe.Pointer(result)))
}

func (l *library) newBytes(data []byte, result *packed.Any) bool {
	b := arrayOf(unsafe.SliceData(data), len(data))
	return ok(l.bytesFromByteArray, uintptr(unsafe.Pointer(b)), uintptr(unsafe.Pointer(result)))
}

// arrayOf is a TVMFFIByteArray, which keeps its data alive.
func arrayOf(data *byte, n int) *packed.ByteArray {
	return &packed.ByteArray{Data: data, Size: uintptr(n)}
}

// typeInfo is the beginning of TVMFFITypeInfo.
type typeInfo struct {
	_   [2]int32 // index and depth
	key packed.ByteArray
}

func (l *library) typeKey(index packed.TypeIndex) string {
	result, _, _ := purego.SyscallN(l.getTypeInfo, uintptr(index))
	info := *(**typeInfo)(unsafe.Pointer(&result)) // an address of C's, in a form that vet accepts
	return textOf(info.key)
}

func (l *library) allocates() bool {
	allocator, _, _ := purego.SyscallN(l.getAllocator)
	return allocator != 0
}

func (l *library) allocate(prototype *dlpack.Tensor) (t *object) {
	ok(l.tensorAlloc, uintptr(unsafe.Pointer(prototype)), uintptr(unsafe.Pointer(&t)))
	return t
}

func (l *library) newTensor(m *dlpack.ManagedTensorVersioned) (t *object) {
	ok(l.tensorFromDLPack, uintptr(unsafe.Pointer(m)), 0, 0, uintptr(unsafe.Pointer(&t)))
	return t
}

// memory uses libc's free as the deleter of its block, which begins with the record, the deleter's only argument.
func (l *library) memory(prototype *dlpack.Tensor) (*dlpack.ManagedTensorVersioned, error) {
	m, err := kernel.NewMemory(prototype, func(head, size int) unsafe.Pointer {
		result, _, _ := purego.SyscallN(l.alignedAlloc, 64, uintptr(head+size))
		block := *(*unsafe.Pointer)(unsafe.Pointer(&result))
		if block != nil {
			clear(unsafe.Slice((*byte)(block), head))
		}
		return block
	})
	if err == nil {
		m.Deleter = *(*unsafe.Pointer)(unsafe.Pointer(&l.free))
	}
	return m, err
}

func (l *library) delete(m *dlpack.ManagedTensorVersioned) { ok(l.free, uintptr(unsafe.Pointer(m))) }

func (l *library) newError(kind, message string) (e *object) {
	k, m := arrayOf(unsafe.StringData(kind), len(kind)), arrayOf(unsafe.StringData(message), len(message))
	none := &packed.ByteArray{Data: k.Data}
	ok(l.errorCreate, uintptr(unsafe.Pointer(k)), uintptr(unsafe.Pointer(m)), uintptr(unsafe.Pointer(none)), uintptr(unsafe.Pointer(&e)))
	return e
}

func (l *library) setError(e *object) { ok(l.errorSetRaised, uintptr(unsafe.Pointer(e))) }

func (l *library) takeError() (e *object) {
	ok(l.errorMoveFromRaised, uintptr(unsafe.Pointer(&e)))
	return e
}

func (l *library) checkSignals() bool { return ok(l.envCheckSignals) }

var _ ffi = (*library)(nil)
