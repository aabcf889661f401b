// Package jsonnet evaluates programs in Jsonnet (https://jsonnet.org), a language for configuration whose results are JSON.
//
//	vm, err := jsonnet.NewVM(nil, 500)
//	text, err := vm.Evaluate(nil, "{a: 1 + 1}", "example.jsonnet")
//
// The work is that of github.com/google/go-jsonnet. What is here makes it a class for Python.
package jsonnet
