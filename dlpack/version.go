package dlpack

import "fmt"

// Version is DLPackVersion: the version of DLPack that a record was written for. 8 bytes.
type Version struct {
	Major uint32 `c:"major"`
	Minor uint32 `c:"minor"`
}

// Current is the version of this package's records, codes and rules (the DLPack 1.3 header).
var Current = Version{Major: 1, Minor: 3}

// String returns "1.3" for version 1.3.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Compatible reports whether code written for v may read records of version o.
//
// Only the major version decides: another major has another memory layout, while a higher minor adds enumeration values at most
// (R34, R35). Of an incompatible record only the version may be read, and the deleter must be called.
func (v Version) Compatible(o Version) bool { return v.Major == o.Major }
