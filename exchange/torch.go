package exchange

import (
	"encoding/binary"
	"slices"

	"godlpack/internal/cpython"
)

// foreign reports whether a guarded type is not one of torch's own, so that what it answers may be Python code.
func foreign(typ cpython.Object) bool {
	module := typ.Module()
	return module != "torch" && module != "torch.nn.parameter"
}

// LearnTorch finds the flag in torch's storages that lets them be resized, so that the lane can forbid it while a function
// works on their memory. torch clears it itself when NumPy shares the memory, which shows where it is; nothing of torch sets
// it again. Whatever it finds is held against what torch says of another tensor.
//
// GIL: held; runs torch's code.
// Owns: nothing passes.
// Threads: any with the GIL.
func LearnTorch() {
	layout, ok := torchLayout()
	if ok {
		cpython.LearnTorch(layout)
		ok = locksAgree()
	}
	if !ok {
		cpython.ForgetTorch()
	}
	cpython.ClearError()
}

// A storage is a tensor of torch, its storage, and where they are.
type storage struct{ tensor, object, impl, address cpython.Object }

// newStorage makes one; the caller releases it, also where it is not complete.
func newStorage() (s storage, ok bool) {
	n := cpython.Int(3)
	defer n.Release()
	var err error
	if s.tensor, err = cpython.Imported("torch").CallIn("empty", n); err != nil {
		return s, false
	}
	if s.object, err = s.tensor.CallMethod("untyped_storage", nil); err != nil {
		return s, false
	}
	s.impl, s.address = s.tensor.Find("_cdata"), s.object.Find("_cdata")
	return s, s.impl.IsInt() && s.address.IsInt()
}

func (s storage) release() {
	cpython.ReleaseAll([]cpython.Object{s.tensor, s.object, s.impl, s.address})
}

// resizable is what torch says.
func (s storage) resizable() bool {
	answer, err := s.object.CallMethod("resizable", nil)
	if err != nil {
		return false
	}
	defer answer.Release()
	yes, err := answer.Truth()
	return yes && err == nil
}

func torchLayout() (l cpython.TorchLayout, ok bool) {
	s, ok := newStorage()
	defer s.release()
	if !ok || !s.resizable() {
		return l, false
	}
	size := s.tensor.Type().Find("__basicsize__")
	defer size.Release()
	n, _, err := size.Int64()
	if err != nil {
		return l, false
	}
	l.Impl = wordAt(s.tensor.Memory(int(n)), s.impl)
	l.Storage = wordAt(s.impl.Allocation(), s.address)
	before := s.address.Allocation()
	shared, err := s.tensor.CallMethod("numpy", nil)
	if err != nil {
		return l, false
	}
	shared.Release()
	l.Resizable = cleared(before, s.address.Allocation())
	return l, !s.resizable() && l.Impl > 0 && l.Storage > 0 && l.Resizable > 0
}

// wordAt is where the number is among the words of some memory: -1 if it is there not once.
func wordAt(memory []byte, number cpython.Object) int {
	word := binary.NativeEndian.AppendUint64(nil, uint64(uintptr(number.Pointer())))
	found := -1
	for i := 0; i+8 <= len(memory); i += 8 {
		if slices.Equal(memory[i:i+8], word) {
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

// locksAgree tries the flag on another tensor.
func locksAgree() bool {
	s, ok := newStorage()
	defer s.release()
	if !ok || !s.resizable() {
		return false
	}
	locked := false
	cpython.TryTorchLock(s.tensor, func() { locked = !s.resizable() })
	return locked && s.resizable()
}
