package cpython

// #include "core.h"
import "C"

import (
	"unsafe"

	"godlpack/dlpack"
)

// Table is an exchange table: static, and valid as long as the process runs (R52).
type Table struct{ p *C.DLPackExchangeAPI }

// TableAt returns the table that an attribute's value refers to: a capsule (DLPack 1.3) or an address as an int (1.2),
// under either name (R64). The zero Table means that the value is neither.
//
// GIL: held; no exception may be pending.
func TableAt(value Object) Table {
	if value.IsCapsule() {
		if !value.HasName(nameTable) {
			return Table{}
		}
		return Table{(*C.DLPackExchangeAPI)(C.PyCapsule_GetPointer(value.p, nameTable.c))}
	}
	const alignment = 8
	if address, fits := value.Uint64(); !value.IsInt() || !fits || address < dlpack.MinAddress || address%alignment != 0 {
		return Table{}
	}
	return Table{(*C.DLPackExchangeAPI)(C.PyLong_AsVoidPtr(value.p))}
}

// Exists reports whether there is a table.
func (t Table) Exists() bool { return t.p != nil }

// Address returns the table's address.
func (t Table) Address() uintptr { return uintptr(unsafe.Pointer(t.p)) }

// Record returns the table itself, in place.
func (t Table) Record() *dlpack.ExchangeAPI { return (*dlpack.ExchangeAPI)(unsafe.Pointer(t.p)) }

// Older returns the table of an older version that this one links to (prev_api), if any.
func (t Table) Older() Table {
	return Table{(*C.DLPackExchangeAPI)(unsafe.Pointer(t.p.header.prev_api))}
}

// Take exports x, an object of the type that publishes the table.
//
// Owns: the result is the caller's to wrap or delete; on ErrRaised there is none.
func (t Table) Take(x Object) (Managed, error) {
	var m Managed
	if C.gd_table_import(t.p, x.p, &m.versioned) != 0 || m.versioned == nil {
		return Managed{}, ErrRaised
	}
	return m, nil
}

// Make turns an export of x into an object of the type that publishes the table.
//
// Owns: the result is new and keeps x's memory alive; on ErrRaised nothing is left.
func (t Table) Make(x Tensor) (Object, error) {
	m := C.gd_export_versioned(x.p, 0)
	if m == nil {
		return Object{}, ErrRaised
	}
	var made *C.PyObject
	if C.gd_table_to_object(t.p, m, &made) != 0 || made == nil {
		Managed{versioned: m}.Delete() // on failure the table has not taken it (R56)
		return Object{}, ErrRaised
	}
	return Object{made}, nil
}

// Plan is how the fast paths exchange objects of exactly one type.
type Plan struct {
	Protocol  Protocol
	Table     Table // ByTable
	Guarded   bool  // ByTable: check whether each object requires grad, or is a lazy conjugate or negative (R65)
	Foreign   bool  // Guarded: the type is not torch's own, so that the check may run Python code
	Immutable bool  // ByMethod, ByBuffer: legacy capsules are read-only (R44)
	Bare      bool  // ByMethod, ByBuffer: __dlpack__ takes no max_version (R33)
}

// Protocol is a way to exchange tensors with a type.
type Protocol int

// The protocols that have a fast path.
const (
	ByTable  Protocol = C.GD_BY_TABLE  // the type's exchange table
	ByMethod Protocol = C.GD_BY_METHOD // __dlpack__(max_version=...)
	ByNumPy  Protocol = C.GD_BY_NUMPY  // the array struct
	ByBuffer Protocol = C.GD_BY_BUFFER // a read-only buffer, else __dlpack__
)

// SetPlan sets the plan by which the fast paths exchange objects of exactly this type, unless the operation is Starved.
//
// Owns: a reference to typ is kept until another type's plan replaces this one.
func SetPlan(typ Object, p Plan) {
	if Starved() {
		return
	}
	C.gd_plan_set(C.gd_plan{
		_type: (*C.PyTypeObject)(unsafe.Pointer(typ.p)), protocol: C.gd_protocol(p.Protocol), api: p.Table.p,
		guarded: C.bool(p.Guarded), asks_python: C.bool(p.Guarded && p.Foreign),
		immutable: C.bool(p.Immutable), bare: C.bool(p.Bare),
	})
}

// TakesNoVersion reports whether a type has a plan that is bare: its __dlpack__ takes no max_version.
func TakesNoVersion(typ Object) bool {
	plan := C.gd_plan_of((*C.PyTypeObject)(unsafe.Pointer(typ.p)))
	return plan != nil && bool(plan.bare)
}

// PlannedTypes returns the names of the types that have a plan.
func PlannedTypes() []string {
	var names []string
	for i := C.int(0); i < C.GD_PLANS; i++ {
		if t := C.gd_plan_type(i); t != nil {
			names = append(names, Object{t}.Name())
		}
	}
	return names
}
