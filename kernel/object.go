package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"godlpack/packed"
)

// The host knows an object by a number: it never has a pointer into Go's memory. A number consists of the class and a place in
// the table of objects. The host reports how many times it has received a number, and no longer has it (Release): the place is
// free once that is as often as the library has given it. So an object that is returned while the host drops it stays alive.

// table is the table of objects that the host has.
type table struct {
	chunks atomic.Pointer[[]*chunk] // read without the mutex

	mu    sync.Mutex
	free  []uint32
	used  uint32 // places that were ever used
	known map[identity]uint32
	grow  func(places int) bool // prepares the host's side; nil: nothing to prepare
}

const perChunk = 1024

type chunk [perChunk]entry

// An entry is one object that the host has.
type entry struct {
	value  any                  // a *T
	class  *class               // nil: the place is free
	given  int64                // how many times the host has received it
	user   atomic.Pointer[Call] // of an exclusive object, during a call
	pinner *runtime.Pinner      // if the host knows its address
}

// identity distinguishes objects: a struct and its first field have the same address.
type identity struct {
	address unsafe.Pointer
	class   *class
}

var objects = table{known: map[identity]uint32{}}

// ManageObjects calls grow before the first object takes a place at or above a number of places, a multiple of 1,024: a host's
// bookkeeping needs memory for them. If grow reports false, the object is refused with a MemoryError. It is for package library.
func ManageObjects(grow func(places int) bool) { objects.grow = grow }

// Release reports that the host, which received an object count times more than it reported before, no longer has it. Objects
// that the host does not have are ignored.
func Release(number uint64, count int64) { objects.release(uint32(number), count) }

// entryAt returns an entry in use; nil for a place that was never used.
func (t *table) entryAt(place uint32) *entry {
	chunks := t.chunks.Load()
	if chunks == nil || int(place/perChunk) >= len(*chunks) {
		return nil
	}
	return &(*chunks)[place/perChunk][place%perChunk]
}

// at returns the entry of an object that the host passes; the zero entry if it is none. The host has it, so it does not change.
func (t *table) at(cell packed.Cell) *entry {
	if cell.Code == packed.CodeObject {
		if e := t.entryAt(uint32(cell.Value)); e != nil && e.class != nil && e.class.number == int(cell.Value>>32) {
			return e
		}
	}
	return &entry{}
}

// give returns the cell by which the host receives an object, a non-nil pointer to a type with that class.
func (t *table) give(value any, class *class) (packed.Cell, error) {
	id := identity{addressOf(value), class}
	t.mu.Lock()
	defer t.mu.Unlock()
	place, known := t.known[id]
	if !known {
		var err error
		if place, err = t.place(); err != nil {
			return packed.Cell{}, err
		}
		t.known[id] = place
		e := t.entryAt(place)
		e.value, e.class, e.given = value, class, 0
	}
	t.entryAt(place).given++
	return packed.Object(uint64(class.number)<<32 | uint64(place)), nil
}

// Address returns the address of an object that the host has, whose memory stays there for as long as the host has it; nil if
// it has none of this number. For numbers that the host reads by itself (Place).
func Address(number uint64) unsafe.Pointer { return objects.pin(uint32(number)) }

func (t *table) pin(place uint32) unsafe.Pointer {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entryAt(place)
	if e == nil || e.class == nil {
		return nil
	}
	if e.pinner == nil {
		e.pinner = new(runtime.Pinner)
		e.pinner.Pin(e.value)
	}
	return addressOf(e.value)
}

// addressOf returns the pointer in an interface that holds one.
func addressOf(value any) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&value))[1]
}

// place returns a free place. The mutex is held.
func (t *table) place() (uint32, error) {
	if n := len(t.free); n > 0 {
		place := t.free[n-1]
		t.free = t.free[:n-1]
		return place, nil
	}
	if t.used%perChunk == 0 {
		if t.used == 1<<31 || t.grow != nil && !t.grow(int(t.used)+perChunk) {
			return 0, Errorf(MemoryError, "no memory for more than %d objects", t.used)
		}
		var chunks []*chunk
		if old := t.chunks.Load(); old != nil {
			chunks = append(chunks, *old...)
		}
		chunks = append(chunks, new(chunk))
		t.chunks.Store(&chunks)
	}
	t.used++
	return t.used - 1, nil
}

func (t *table) release(place uint32, count int64) {
	if it, ok := t.remove(place, count).(interface{ drop() }); ok {
		it.drop()
	}
}

// remove frees a place that the host has no more, and returns its object; nil if the host has it still.
func (t *table) remove(place uint32, count int64) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entryAt(place)
	if e == nil || e.class == nil {
		return nil
	}
	if e.given -= count; e.given > 0 {
		return nil
	}
	value := e.value
	if e.pinner != nil {
		e.pinner.Unpin()
	}
	delete(t.known, identity{addressOf(e.value), e.class})
	*e = entry{}
	t.free = append(t.free, place)
	return value
}

// Held returns the number of objects that the host has, or has dropped and not yet released.
func Held() int {
	t := &objects
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(t.used) - len(t.free)
}

// Drop frees what a cell owns, of a result or an argument that the host does not get: its block, its elements, its tensors, its
// references to objects.
func Drop(host Host, c packed.Cell) {
	packed.Drop(host, c, host.Delete, func(number uint64) { Release(number, 1) })
}
