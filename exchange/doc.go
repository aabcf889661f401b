// Package exchange exchanges whole tensors between libraries by the fastest protocol that a type has: by its exchange table,
// without calls of Python code, else by __dlpack__ and from_dlpack.
//
// The first object of a type is exchanged here, and the findings about the type become a plan; from then on the fast paths
// of internal/cpython repeat the plan in C, and call this package only for unusual input.
//
// docs/architecture.md, "Four paths through the code", shows the way of a tensor through both.
//
//	t, err := exchange.Import(x, exchange.Request{})   // any library's tensor, as a godlpack.Tensor
//	y, err := exchange.Convert(t, torchTensorType)     // a godlpack.Tensor, as an object of another library
package exchange
