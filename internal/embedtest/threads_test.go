package embedtest

import (
	_ "embed"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"godlpack/internal/cpython"
	"godlpack/tensor"
)

//go:embed testdata/exchange.py
var exchange string

// balanced fails the test if more or fewer storages, exports and imports are held after it than before.
func balanced(t *testing.T) {
	t.Helper()
	before := owed()
	t.Cleanup(func() {
		run(t, "import gc; gc.collect()")
		if now := owed(); now != before {
			t.Errorf("storages, exports and imports owed: %v before, %v after", before, now)
		}
	})
}

// owed counts the storages, exports and imports that were made and not given back.
func owed() (count [3]int64) {
	Locked(func() {
		s := cpython.ReadCounters()
		count = [3]int64{s.StoragesMade - s.StoragesFreed, s.ExportsMade - s.ExportsDeleted, s.ImportsTaken - s.ImportsDeleted}
	})
	return count
}

// together runs work(number) in goroutines, and collects garbage until the last one has ended.
func together(count int, work func(number int)) {
	var all sync.WaitGroup
	for number := range count {
		all.Go(func() { work(number) })
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	for {
		select {
		case <-over:
			return
		default:
			runtime.GC()
		}
	}
}

// TestGoroutinesCallPython runs Python code on many threads, while pure Go code runs beside it without the GIL.
func TestGoroutinesCallPython(t *testing.T) {
	run(t, exchange)
	run(t, "everything(1)") // fills the frameworks' caches
	balanced(t)
	together(12, func(number int) {
		for round := range 10 {
			if number%3 == 2 {
				convertInGo(t)
			} else if err := Run(fmt.Sprintf("everything(%d)", number+round)); err != nil {
				t.Error(err)
			}
		}
	})
}

// convertInGo uses the packages without C, on records in Go's own memory.
func convertInGo(t *testing.T) {
	numbers, err := tensor.FromSlice(make([]float32, 1000), 10, 100)
	if err != nil {
		t.Error(err)
		return
	}
	small, err := tensor.FromSlice(make([]tensor.BFloat16, 1000), 10, 100)
	if err != nil {
		t.Error(err)
		return
	}
	fromRecord, toRecord := numbers.Record(), small.Record()
	from, to := fromRecord.Tensor(), toRecord.Tensor()
	if err := tensor.Fill(&from, false, tensor.FloatScalar(1.5)); err != nil {
		t.Error(err)
	}
	if err := tensor.Convert(&to, &from, false, false); err != nil || small.At(9, 99).Float64() != 1.5 {
		t.Error(small.At(9, 99), err)
	}
	if text := tensor.Text(&to, false, tensor.TextOptions{}); !strings.Contains(text, "1.5") {
		t.Error(text)
	}
}

// TestGoroutinesDelete deletes exports on threads without a Python thread state and without the GIL, while Python makes more
// (R12).
func TestGoroutinesDelete(t *testing.T) {
	run(t, exchange)
	balanced(t)
	run(t, `
import numpy as np, torch
owners = [gd.zeros(100), gd.from_dlpack(np.arange(9)), gd.from_dlpack(torch.arange(9)), gd.asarray(bytearray(9))]
capsules = [t.__dlpack__(max_version=version) for t in owners for version in (None, (1, 0)) for _ in range(50)]
del owners
`)
	exports := taken(t, "capsules")
	together(len(exports), func(number int) {
		exports[number].Delete()
		if number%50 == 0 {
			if err := Run("both_ways(1)"); err != nil {
				t.Error(err)
			}
		}
	})
}

// taken consumes the capsules of a list in __main__, and empties the list.
func taken(t *testing.T, list string) (all []cpython.Managed) {
	t.Helper()
	Locked(func() {
		main, err := cpython.Import("__main__")
		if err != nil {
			t.Fatal(err)
		}
		defer main.Release()
		capsules, err := main.Attr(list)
		if err != nil {
			t.Fatal(err)
		}
		defer capsules.Release()
		items, err := capsules.Items()
		if err != nil {
			t.Fatal(err)
		}
		defer cpython.ReleaseAll(items)
		for _, capsule := range items {
			all = append(all, capsule.Managed())
			if err := capsule.MarkUsed(); err != nil {
				t.Fatal(err)
			}
		}
	})
	run(t, list+".clear()")
	return all
}
