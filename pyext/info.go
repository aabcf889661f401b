package pyext

import (
	"runtime"

	"godlpack/dlpack"
	"godlpack/internal/cpython"
	"godlpack/kernel"
)

func init() {
	cpython.Handle(cpython.OpGetBuildInfo, func(c *cpython.Call) (cpython.Object, error) {
		if _, err := cpython.Sign("get_build_info()").Bind(c); err != nil {
			return cpython.Object{}, err
		}
		start := "eager"
		lazy, generation := cpython.Runtime()
		if lazy {
			start = "lazy"
		}
		return cpython.DictOf([]cpython.Entry{
			{Name: "godlpack", Value: cpython.Version},
			{Name: "go", Value: runtime.Version()},
			{Name: "platform", Value: runtime.GOOS + "/" + runtime.GOARCH},
			{Name: "dlpack", Value: dlpack.Current.String()},
			{Name: "abi", Value: "cp311-abi3"},
			{Name: "runtime_start", Value: start},
			{Name: "runtime_generation", Value: generation},
			{Name: "fast_paths", Value: cpython.PlannedTypes()},
		})
	})
	cpython.Handle(cpython.OpLayout, func(*cpython.Call) (cpython.Object, error) {
		var entries []cpython.Entry
		for name, value := range dlpack.Layout() {
			entries = append(entries, cpython.Entry{Name: name, Value: int64(value)})
		}
		return cpython.DictOf(entries)
	})
	cpython.Handle(cpython.OpThreads, func(c *cpython.Call) (cpython.Object, error) {
		args, err := cpython.Sign("_threads(n, /)").Bind(c)
		if err != nil {
			return cpython.Object{}, err
		}
		n, err := parseInt(args[0], "_threads", "n")
		if err != nil {
			return cpython.Object{}, err
		}
		return cpython.Int(int64(kernel.SetThreads(int(n)))), nil
	})
	cpython.Handle(cpython.OpCounters, func(*cpython.Call) (cpython.Object, error) {
		s := cpython.ReadCounters()
		return cpython.DictOf([]cpython.Entry{
			{Name: "storages_made", Value: s.StoragesMade}, {Name: "storages_freed", Value: s.StoragesFreed},
			{Name: "exports_made", Value: s.ExportsMade}, {Name: "exports_deleted", Value: s.ExportsDeleted},
			{Name: "imports_taken", Value: s.ImportsTaken}, {Name: "imports_deleted", Value: s.ImportsDeleted},
		})
	})
}
