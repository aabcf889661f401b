package exchange

import (
	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// attributes are the names under which types publish their table: DLPack 1.3's, then 1.2's (R50).
var attributes = []string{dlpack.ExchangeAttr, dlpack.ExchangeAttrInt}

// Find returns the table that a type publishes, in a version that godlpack supports; the zero Table if there is none. It is
// looked up on the exact type, never on an instance, whose attributes may be different (R62).
//
// GIL: held; no exception may be pending.
// Owns: nothing passes; the table is never freed (R52).
func Find(typ cpython.Object) cpython.Table {
	for _, name := range attributes {
		value := typ.Find(name)
		if !value.Exists() {
			continue
		}
		table := supportedTable(cpython.TableAt(value))
		value.Release()
		if table.Exists() {
			return table
		}
	}
	return cpython.Table{}
}

// supportedTable follows the older versions of a table to the first one of our major version; the zero Table if there is none,
// or if it lacks the functions that import and export tensors (R53, R64).
func supportedTable(t cpython.Table) cpython.Table {
	for t.Exists() && !dlpack.Current.Compatible(t.Record().Header.Version) {
		t = t.Older()
	}
	if t.Exists() && (t.Record().ManagedFromPy == nil || t.Record().ManagedToPy == nil) {
		return cpython.Table{}
	}
	return t
}
