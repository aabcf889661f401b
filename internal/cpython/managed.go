package cpython

// #include "core.h"
// #include <stdlib.h>
import "C"

import (
	"sync"
	"unsafe"

	"godlpack/dlpack"
)

// Managed is another library's managed tensor, versioned or legacy, which must be deleted exactly once.
type Managed struct {
	versioned *C.DLManagedTensorVersioned
	legacy    *C.DLManagedTensor
}

// ManagedAt returns the versioned managed tensor whose address is a Python int.
func ManagedAt(address Object) Managed {
	return Managed{versioned: (*C.DLManagedTensorVersioned)(C.PyLong_AsVoidPtr(address.p))}
}

// LegacyLibrary returns the path of the library that contains a legacy record's deleter, "" if that is unknown or the record
// is versioned. The first search for a deleter can take a millisecond: the loader searches a whole symbol table.
//
// GIL: not needed.
// Owns: the result is Go's.
// Threads: any.
func (m Managed) LegacyLibrary() string {
	if m.legacy == nil {
		return ""
	}
	deleter := uintptr(unsafe.Pointer(m.legacy.deleter))
	deleters.Lock()
	defer deleters.Unlock()
	path, known := deleters.library[deleter]
	if !known {
		path = C.GoString(C.gd_legacy_library(m.legacy))
		if len(deleters.library) >= 1024 { // more than any set of libraries has: made at run time, as by ctypes
			clear(deleters.library)
		}
		deleters.library[deleter] = path
	}
	return path
}

// deleters maps each deleter to its library; libraries with extension modules are never unloaded.
var deleters = struct {
	sync.Mutex
	library map[uintptr]string
}{library: map[uintptr]string{}}

// Exists reports whether there is a managed tensor.
func (m Managed) Exists() bool { return m.versioned != nil || m.legacy != nil }

// Versioned reports whether the record has a version and flags.
func (m Managed) Versioned() bool { return m.versioned != nil }

// Version returns the record's version, 0.0 for a legacy one.
func (m Managed) Version() dlpack.Version {
	if m.versioned == nil {
		return dlpack.Version{}
	}
	return dlpack.Version{Major: uint32(m.versioned.version.major), Minor: uint32(m.versioned.version.minor)}
}

// Flags returns the record's flags, none for a legacy one.
func (m Managed) Flags() dlpack.Flags {
	if m.versioned == nil {
		return 0
	}
	return dlpack.Flags(m.versioned.flags)
}

// Record returns the tensor's record, in place. Read it only after a check that Version is compatible (R34).
func (m Managed) Record() *dlpack.Tensor {
	if m.versioned == nil {
		return (*dlpack.Tensor)(unsafe.Pointer(&m.legacy.dl_tensor))
	}
	return (*dlpack.Tensor)(unsafe.Pointer(&m.versioned.dl_tensor))
}

// Delete calls the deleter, if there is one.
//
// GIL: held or not.
// Owns: takes the managed tensor.
// Threads: any.
func (m Managed) Delete() { C.gd_managed_delete(m.versioned, m.legacy) }

// Wrap makes a Tensor of a managed tensor whose record is valid.
//
// Owns: takes the managed tensor on success; on error it is still the caller's. The result is new.
func (m Managed) Wrap(flags dlpack.Flags) (Object, error) {
	if m.versioned != nil {
		return raisedIfNil(C.gd_wrap_managed(m.versioned, C.uint64_t(flags)))
	}
	storage := C.gd_storage_of_legacy(m.legacy)
	if storage == nil {
		return Object{}, dlpack.Errorf(dlpack.KindMemory, "godlpack: no memory for a tensor")
	}
	o, err := raisedIfNil(C.gd_tensor_new(&m.legacy.dl_tensor, C.uint64_t(flags), storage))
	if err != nil {
		C.gd_storage_abandon(storage)
	}
	return o, err
}

// ---- capsules ----

// CapsuleName is a name that a DLPack capsule can have (R8).
type CapsuleName struct{ c *C.char }

// The four names of a tensor's capsule: a live capsule has the first of a pair, a used one the second.
var (
	NameLegacy        = CapsuleName{C.CString(dlpack.CapsuleLegacy)}
	NameLegacyUsed    = CapsuleName{C.CString(dlpack.CapsuleLegacyUsed)}
	NameVersioned     = CapsuleName{C.CString(dlpack.CapsuleVersioned)}
	NameVersionedUsed = CapsuleName{C.CString(dlpack.CapsuleVersionedUsed)}
	nameTable         = CapsuleName{C.CString(dlpack.ExchangeCapsule)}
)

// Capsule exports t in a new capsule; extra flags are added to t's own, and need a versioned capsule.
//
// Owns: the result is new, and owns the export; on ErrRaised there is none.
func (t Tensor) Capsule(versioned bool, extra dlpack.Flags) (Object, error) {
	return raisedIfNil(C.gd_capsule(t.p, C.bool(versioned), C.uint64_t(extra)))
}

// HasName reports whether o is a capsule of that name with a pointer that is not NULL.
func (o Object) HasName(name CapsuleName) bool { return C.PyCapsule_IsValid(o.p, name.c) != 0 }

// CapsuleText returns a capsule's name, "" if it has none.
//
// Owns: the result is Go's copy.
func (o Object) CapsuleText() string {
	name := C.PyCapsule_GetName(o.p)
	if name == nil {
		ClearError()
		return ""
	}
	return C.GoString(name)
}

// Managed returns the managed tensor in a live DLPack capsule.
//
// Owns: the managed tensor is the capsule's until MarkUsed.
func (o Object) Managed() Managed {
	if o.HasName(NameVersioned) {
		return Managed{versioned: (*C.DLManagedTensorVersioned)(C.PyCapsule_GetPointer(o.p, NameVersioned.c))}
	}
	return Managed{legacy: (*C.DLManagedTensor)(C.PyCapsule_GetPointer(o.p, NameLegacy.c))}
}

// MarkUsed renames a live DLPack capsule as used, so that it no longer deletes its managed tensor (R36).
//
// Owns: the managed tensor becomes the caller's; on ErrRaised it is still the capsule's.
func (o Object) MarkUsed() error {
	used := NameLegacyUsed
	if o.HasName(NameVersioned) {
		used = NameVersionedUsed
	}
	if C.PyCapsule_SetName(o.p, used.c) != 0 {
		return ErrRaised
	}
	return nil
}
