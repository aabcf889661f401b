// Command sample is an author's library, with its functions declared by hand: what tests of hosts call.
//
//	go build -buildmode=c-shared -o sample.so ./library/testdata/sample
package main

import (
	"godlpack/dlpack"
	"godlpack/kernel"
	_ "godlpack/library"
)

func main() {}

var (
	float32s = []dlpack.DType{dlpack.Float32}
	floats   = []dlpack.DType{dlpack.Float32, dlpack.Float64}
)

// vector declares a tensor of float32 with one axis.
func vector(name string, n kernel.Extent) kernel.Param {
	return kernel.Param{Name: name, Kind: kernel.KindTensor, DTypes: float32s, Shape: []kernel.Extent{n}}
}

// of declares an argument, or a result, without a name, of a kind that needs no more said.
func of(name string, kind kernel.Kind) kernel.Param { return kernel.Param{Name: name, Kind: kind} }

// mutable declares that a tensor is written.
func mutable(p kernel.Param) kernel.Param {
	p.Mutable = true
	return p
}

// list declares a list of elem.
func list(name string, elem kernel.Param) kernel.Param {
	return kernel.Param{Name: name, Kind: kernel.KindList, Elem: &elem}
}

// register declares a function.
func register(name, doc string, params, results []kernel.Param, do func(*kernel.Call) error) {
	kernel.Register(kernel.Func{Name: name, Doc: doc, Params: params, Results: results, Do: do})
}

type params = []kernel.Param
