package cpython

// #include "core.h"
import "C"

// Scoreboard counts what was made and given back since the module was loaded: each pair is equal when nothing is
// left. Exports are managed tensors that others took from us, imports those that we took from others.
type Scoreboard struct {
	StoragesMade, StoragesFreed  int64
	ExportsMade, ExportsDeleted  int64
	ImportsTaken, ImportsDeleted int64
}

// Score reads the scoreboard.
//
// GIL: not needed.
// Owns: nothing passes.
// Threads: any.
func Score() Scoreboard {
	s := &C.gd_score
	return Scoreboard{
		int64(s.storages_made), int64(s.storages_freed), int64(s.exports_made), int64(s.exports_deleted),
		int64(s.imports_taken), int64(s.imports_deleted),
	}
}
