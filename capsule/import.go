package capsule

import (
	"slices"
	"strings"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
)

// Imported is a tensor that was taken from a producer.
type Imported struct {
	Tensor    cpython.Object // new
	Copied    bool           // the producer made a copy for us (R24)
	Versioned bool           // it came in a versioned record
	Immutable bool           // it came in a legacy record from a library whose arrays are immutable
}

// Import takes the tensor out of a live capsule (R34 to R42). A capsule without a live DLPack name is a ValueError, a
// tensor that cannot be shared a BufferError.
//
// Owns: the result is new and the capsule used; on error there is no result, and a refused capsule is unchanged.
func Import(c cpython.Object) (Imported, error) {
	if err := checkLive(c); err != nil {
		return Imported{}, err
	}
	m := c.Managed()
	if err := Check(m); err != nil {
		return Imported{}, err
	}
	if err := c.MarkUsed(); err != nil {
		return Imported{}, err
	}
	taken, err := Wrap(m)
	if err != nil {
		m.Delete()
	}
	return taken, err
}

func checkLive(c cpython.Object) error {
	switch {
	case c.HasName(cpython.NameLegacy), c.HasName(cpython.NameVersioned):
		return nil
	case c.HasName(cpython.NameLegacyUsed), c.HasName(cpython.NameVersionedUsed): // R38
		return dlpack.Errorf(dlpack.KindValue, "the capsule was already consumed (its name is %q); get a new one from its producer", c.CapsuleText())
	}
	return dlpack.Errorf(dlpack.KindValue, "want a capsule named \"dltensor\" or \"dltensor_versioned\", got %q", c.CapsuleText())
}

// Check refuses a managed tensor that no consumer may take; it reads only what the tensor's version allows (R34).
//
// GIL: not needed.
// Threads: any.
func Check(m cpython.Managed) error {
	if v := m.Version(); m.Versioned() && !dlpack.Current.Compatible(v) {
		return dlpack.Errorf(dlpack.KindBuffer, "want DLPack %d.x, got a tensor of DLPack %s", dlpack.Current.Major, v)
	}
	return m.Record().Validate()
}

// immutable lists, by parts of the paths of their shared libraries, the libraries whose arrays are immutable and which export
// legacy records, which have no read-only flag. (The versioned records of newer pyarrows have it.)
var immutable = []string{"/jaxlib/", "/libarrow.so"}

// fromImmutable reports whether a legacy record was made by a library whose arrays are immutable (R44). It uses the address
// of the record's deleter, so that it works for a bare capsule, too.
func fromImmutable(m cpython.Managed) bool {
	library := m.LegacyLibrary()
	return slices.ContainsFunc(immutable, func(part string) bool { return strings.Contains(library, part) })
}

// Wrap makes a Tensor of a managed tensor that passed Check; it is read-only if the flags have ReadOnly, or if its library's
// arrays are immutable.
//
// Owns: takes m on success; on error it is still the caller's. The result is new.
func Wrap(m cpython.Managed) (Imported, error) {
	flags := m.Flags()
	taken := Imported{Copied: flags.Has(dlpack.IsCopied), Versioned: m.Versioned(), Immutable: fromImmutable(m)}
	if taken.Immutable {
		flags |= dlpack.ReadOnly
	}
	var err error
	taken.Tensor, err = m.Wrap(flags)
	return taken, err
}
