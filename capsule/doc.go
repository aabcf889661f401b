// Package capsule exchanges one tensor in one PyCapsule: the arguments and the result of __dlpack__, the checks of an
// incoming capsule, and the ownership of the memory at each moment.
//
// A capsule is live until a consumer takes its tensor, then used; the destructor of a live capsule deletes its tensor (R9).
// So an incoming capsule is checked before it is marked as used: a refusal leaves it unchanged.
//
//	t, err := capsule.Import(object) // a godlpack.Tensor, or an error and a capsule that is still live
//	c, err := capsule.Export(t, capsule.Request{Versioned: true})
package capsule
