package cpython

// #include "core.h"
import "C"

// Counters counts, in pairs, what was made and given back since the module was loaded; a pair that is not equal is a leak.
// Exports are managed tensors that godlpack made for other libraries, imports those that it took from them.
type Counters struct {
	StoragesMade, StoragesFreed  int64
	ExportsMade, ExportsDeleted  int64
	ImportsTaken, ImportsDeleted int64
}

// ReadCounters reads the counters.
func ReadCounters() Counters {
	s := C.gd_counted
	return Counters{
		total(&s.storages_made), total(&s.storages_freed), total(&s.exports_made), total(&s.exports_deleted),
		total(&s.imports_taken), total(&s.imports_deleted),
	}
}

func total(c *C.gd_count) int64 { return int64(c.held) + int64(c.unheld) }
