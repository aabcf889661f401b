package dlpack

import "fmt"

// Version is DLPackVersion: the version of DLPack that a record was written for. 8 bytes.
type Version struct {
	Major uint32 `c:"major"`
	Minor uint32 `c:"minor"`
}

// Current is the version whose records, codes and rules this package holds (the DLPack 1.3 header).
var Current = Version{Major: 1, Minor: 3}

// String returns "1.3" for version 1.3.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Compatible reports whether records of version o may be read by code written for v.
//
// Only the major version decides: another major means another memory layout, while a higher minor means new
// enumeration values at most (R34, R35). Of a record that is not compatible nothing may be touched but its version
// and its deleter, which must be called.
func (v Version) Compatible(o Version) bool { return v.Major == o.Major }
