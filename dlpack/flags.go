package dlpack

import (
	"fmt"
	"strings"
)

// Flags are the flags of a ManagedTensorVersioned. A consumer must ignore bits that are not named here (R35).
type Flags uint64

// The flags of DLPack 1.3.
const (
	ReadOnly      Flags = 1 << iota // the memory must not be written (R23, R43)
	IsCopied                        // the producer made a copy, so writes affect nobody else (R24)
	SubbytePadded                   // each lane of a sub-byte type starts at a byte of its own; without it lanes are packed (R21)
)

// flagRows names each flag, for String and for Layout.
var flagRows = []struct {
	flag  Flags
	name  string
	cName string
}{
	{ReadOnly, "read_only", "DLPACK_FLAG_BITMASK_READ_ONLY"},
	{IsCopied, "is_copied", "DLPACK_FLAG_BITMASK_IS_COPIED"},
	{SubbytePadded, "subbyte_padded", "DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED"},
}

// Has reports whether all flags of g are set in f.
func (f Flags) Has(g Flags) bool { return f&g == g }

// String returns "read_only|is_copied" for these two, "0" for none; bits without a name come last, in hexadecimal.
func (f Flags) String() string {
	if f == 0 {
		return "0"
	}
	var names []string
	for _, row := range flagRows {
		if f.Has(row.flag) {
			names = append(names, row.name)
			f &^= row.flag
		}
	}
	if f != 0 {
		names = append(names, fmt.Sprintf("%#x", uint64(f)))
	}
	return strings.Join(names, "|")
}
