// Package exchange moves whole tensors between libraries by the fastest protocol there is: the exchange table that a type
// publishes, so that no Python is called, else __dlpack__ and from_dlpack.
//
// The first object of a type is exchanged here, and what was found out about the type becomes a plan; from then on the
// fast paths of internal/cpython repeat the plan in C, and come back here with whatever is out of the ordinary.
//
//	t, err := exchange.Import(x, exchange.Request{})   // any library's tensor, as a godlpack.Tensor
//	y, err := exchange.Convert(t, torchTensorType)     // and the other way
package exchange
