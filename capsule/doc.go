// Package capsule exchanges one tensor in one PyCapsule: the arguments and the result of __dlpack__, the checks of an
// incoming capsule, and the ownership of the memory at each moment.
//
// A capsule is live until a consumer takes its tensor, then used; the destructor of a live capsule deletes its tensor (R9).
// So an incoming capsule is checked before it is marked as used: a refusal leaves it unchanged.
//
//	taken, err := capsule.Import(object) // taken.Tensor is a godlpack.Tensor; after an error, the capsule is still live
//	c, err := capsule.Export(t, capsule.Request{Versioned: true})
package capsule
