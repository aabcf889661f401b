package logs

import (
	"godlpack/kernel"
)

// Funcs are the functions by which a host starts and stops the records, and takes them. A library offers them beside its own,
// from number -1 downwards.
var Funcs = []*kernel.Func{
	prepared("start_logs", []string{"level", "wake"}, nil, func(c *kernel.Call) error {
		if wake := kernel.Int[int64](c, 1); wake >= 0 {
			Start(kernel.Int[int](c, 0), int(wake))
		} else {
			Stop()
		}
		return nil
	}),
	prepared("take_logs", []string{"handled", "most"}, []kernel.Param{{Kind: kernel.KindString}}, func(c *kernel.Call) error {
		c.ReturnString(Take(kernel.Int[uint64](c, 0), kernel.Int[int](c, 1)))
		return nil
	}),
}

// prepared makes a function of integers.
func prepared(name string, params []string, results []kernel.Param, do func(*kernel.Call) error) *kernel.Func {
	f := kernel.Func{Name: name, Results: results, Do: do}
	for _, p := range params {
		f.Params = append(f.Params, kernel.Param{Name: p, Kind: kernel.KindInt})
	}
	ready, err := kernel.Prepare(f)
	if err != nil {
		panic(err) // a declaration of this file
	}
	return ready
}
