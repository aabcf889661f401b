package exchange

import (
	"encoding/binary"

	"godlpack/internal/cpython"
)

// foreign reports whether a guarded type is not one of torch's own, so that what it answers may be Python code.
func foreign(typ cpython.Object) bool {
	module := typ.Module()
	return module != "torch" && module != "torch.nn.parameter"
}

// LearnTorch finds out how torch's storages are made, so that the fast path can keep their memory where it is while a function works
// on it: where they have the flag that lets them be resized, and what frees their memory. torch clears the flag itself when
// NumPy shares the memory, which shows where it is; nothing of torch sets it again. Whatever is found is held against what
// torch does with other storages.
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

// A storage is a tensor of torch, its storage, where that and its memory are, and how many bytes.
type storage struct{ tensor, object, address, data, size cpython.Object }

// extent is how many elements one has: so many that no other word of a storage is their size.
const extent = 1021

// empty makes one in memory of torch's.
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

// ofNumpy makes one in memory of NumPy's.
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

// isComplete reports whether torch has answered all questions.
func (s *storage) isComplete() bool {
	for _, answer := range []cpython.Object{s.address, s.data, s.size} {
		if !answer.Exists() || !answer.IsInt() {
			return false
		}
	}
	return true
}

// release gives back what s holds, which need not be complete.
func (s *storage) release() {
	cpython.ReleaseAll([]cpython.Object{s.tensor, s.object, s.address, s.data, s.size})
	*s = storage{}
}

// resizable is what torch says.
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
	l.Resizable = cleared(before, own.address.Allocation())
	if own.resizable() || l.Storage <= 0 || l.Resizable <= 0 || l.Deleter <= 0 || l.Size <= 0 {
		return l, false
	}
	return withDeleters(l, before, foreign)
}

// contentsAt is where a storage of torch's own memory, a copy of which is given, has the deleter of the memory, and what
// that is called with, in either order: here the memory itself, as the word before. -1 if it is not so.
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

// withDeleters adds which deleters a storage of torch's own memory, a copy of which is given, and one of others' memory have.
func withDeleters(l cpython.TorchLayout, own []byte, s storage) (cpython.TorchLayout, bool) {
	foreign := s.address.Allocation()
	if len(foreign) < max(l.Deleter, l.Context)+8 || word(foreign, l.Data) != uint64(uintptr(s.data.Pointer())) {
		return l, false
	}
	l.FreesOwn, l.FreesForeign = word(own, l.Deleter), word(foreign, l.Deleter)
	return l, l.FreesOwn != l.FreesForeign && cpython.IsCode(l.FreesForeign) && word(foreign, l.Context) != 0
}

func word(memory []byte, at int) uint64 { return binary.NativeEndian.Uint64(memory[at:]) }

// wordAt is where the number is among the words of some memory: -1 if it is there not once.
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

// cleared is the one byte that was 1 and is 0: -1 if anything else has changed.
func cleared(before, after []byte) int {
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

// pinHolds tries a pin on another storage: it must not be resized, and its memory must outlive it.
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
