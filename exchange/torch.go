package exchange

import (
	"encoding/binary"

	"godlpack/internal/cpython"
)

// foreign reports whether a guarded type is not one of torch's own, so that its guards may run Python code.
func foreign(typ cpython.Object) bool {
	module := typ.Module()
	return module != "torch" && module != "torch.nn.parameter"
}

// LearnTorch finds the memory layout of torch's storages, so that the fast path can keep their memory in place while a
// function works on it: the flag that a storage is resizable, and the deleter of its memory. torch clears the flag when NumPy
// shares the memory, which shows the flag's offset; torch never sets it again. The layout is then verified on other storages.
//
// GIL: held; runs torch's code.
func LearnTorch() {
	layout, ok := torchLayout()
	if ok {
		cpython.LearnTorch(layout)
		ok = pinHolds(empty) && pinHolds(ofNumpy)
	}
	if !ok {
		cpython.ForgetTorch()
	}
	cpython.ClearError()
}

// A storage is a tensor of torch, its storage object, the addresses of the storage and of its memory, and the size in bytes.
type storage struct{ tensor, object, address, data, size cpython.Object }

// extent is the number of elements in a sample storage, chosen so that no other word of the storage equals its size.
const extent = 1021

// empty makes a storage in torch's own memory.
func empty() (storage, bool) {
	function := cpython.Imported("torch").FindIn("empty")
	if !function.Exists() {
		return storage{}, false
	}
	defer function.Release()
	cpu, err := cpython.Str("cpu")
	if err != nil {
		return storage{}, false
	}
	defer cpu.Release()
	n := cpython.Int(extent)
	defer n.Release()
	tensor, err := function.Call([]cpython.Object{n}, cpython.Keyword{Name: "device", Value: cpu})
	return storageOf(tensor), err == nil
}

// ofNumpy makes a storage in NumPy's memory.
func ofNumpy() (storage, bool) {
	s, ok := empty()
	defer s.release()
	if !ok {
		return storage{}, false
	}
	array, err := s.tensor.CallMethod("numpy", nil)
	if err != nil {
		return storage{}, false
	}
	defer array.Release()
	tensor, err := cpython.Imported("torch").CallIn("from_numpy", array)
	return storageOf(tensor), err == nil
}

func storageOf(tensor cpython.Object) storage {
	s := storage{tensor: tensor}
	s.object, _ = tensor.CallIn("untyped_storage")
	s.address = s.object.FindIn("_cdata")
	s.data, _ = s.object.CallIn("data_ptr")
	s.size, _ = s.object.CallIn("nbytes")
	return s
}

// isComplete reports whether torch gave the addresses and the size.
func (s *storage) isComplete() bool {
	for _, answer := range []cpython.Object{s.address, s.data, s.size} {
		if !answer.Exists() || !answer.IsInt() {
			return false
		}
	}
	return true
}

// release releases what s holds, complete or not.
func (s *storage) release() {
	cpython.ReleaseAll([]cpython.Object{s.tensor, s.object, s.address, s.data, s.size})
	*s = storage{}
}

// resizable returns the result of the storage's method resizable.
func (s *storage) resizable() bool {
	answer, err := s.object.CallMethod("resizable", nil)
	if err != nil {
		return false
	}
	defer answer.Release()
	yes, err := answer.Truth()
	return yes && err == nil
}

func torchLayout() (l cpython.TorchLayout, ok bool) {
	own, made := empty()
	defer own.release()
	foreign, alsoMade := ofNumpy()
	defer foreign.release()
	if !made || !alsoMade || !own.isComplete() || !foreign.isComplete() || !own.resizable() || foreign.resizable() {
		return l, false
	}
	l.Type = own.object.Type()
	size := l.Type.Find("__basicsize__")
	defer size.Release()
	n, _, err := size.Int64()
	if err != nil {
		return l, false
	}
	l.Storage = wordAt(own.object.Memory(int(n)), own.address)
	before := own.address.Allocation()
	l.Deleter, l.Context = contentsAt(before, own.data)
	l.Data, l.Size = min(l.Deleter, l.Context)-8, wordAt(before, own.size)
	shared, err := own.tensor.CallMethod("numpy", nil)
	if err != nil {
		return l, false
	}
	shared.Release()
	l.Resizable = clearedByte(before, own.address.Allocation())
	if own.resizable() || l.Storage <= 0 || l.Resizable <= 0 || l.Deleter <= 0 || l.Size <= 0 {
		return l, false
	}
	return withDeleters(l, before, foreign)
}

// contentsAt returns the offsets, in a copy of a storage of torch's own memory, of the memory's deleter and of its argument.
// They follow the memory's address, in either order, and the argument is the same address. -1 if they are not found.
func contentsAt(memory []byte, data cpython.Object) (deleter, context int) {
	address := uint64(uintptr(data.Pointer()))
	for i := 0; i+24 <= len(memory); i += 8 {
		first, second := word(memory, i+8), word(memory, i+16)
		switch {
		case word(memory, i) != address:
		case second == address && cpython.IsCode(first):
			return i + 8, i + 16
		case first == address && cpython.IsCode(second):
			return i + 16, i + 8
		}
	}
	return -1, -1
}

// withDeleters adds the deleters to l: of own, a copy of a storage of torch's own memory, and of s, a storage of other memory.
func withDeleters(l cpython.TorchLayout, own []byte, s storage) (cpython.TorchLayout, bool) {
	foreign := s.address.Allocation()
	if len(foreign) < max(l.Deleter, l.Context)+8 || word(foreign, l.Data) != uint64(uintptr(s.data.Pointer())) {
		return l, false
	}
	l.FreesOwn, l.FreesForeign = word(own, l.Deleter), word(foreign, l.Deleter)
	return l, l.FreesOwn != l.FreesForeign && cpython.IsCode(l.FreesForeign) && word(foreign, l.Context) != 0
}

func word(memory []byte, at int) uint64 { return binary.NativeEndian.Uint64(memory[at:]) }

// wordAt returns the offset of the only word in memory that equals number, -1 if there is none or more than one.
func wordAt(memory []byte, number cpython.Object) int {
	found := -1
	for i := 0; i+8 <= len(memory); i += 8 {
		if word(memory, i) == uint64(uintptr(number.Pointer())) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// clearedByte returns the offset of the one byte that changed from 1 to 0, -1 if any other byte changed or none did.
func clearedByte(before, after []byte) int {
	found := -1
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		if found >= 0 || before[i] != 1 || after[i] != 0 {
			return -1
		}
		found = i
	}
	return found
}

// pinHolds reports whether a pin works on a new storage: the storage cannot be resized, and its memory outlives it.
func pinHolds(newStorage func() (storage, bool)) bool {
	s, ok := newStorage()
	defer s.release()
	if !ok || !s.isComplete() {
		return false
	}
	forbidden := false
	left := cpython.TryTorchPin(s.object, func() {
		forbidden = !s.resizable()
		s.release()
	})
	return forbidden && left
}
