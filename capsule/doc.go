// Package capsule exchanges one tensor in one PyCapsule: what __dlpack__ is asked for and what it answers, what an
// incoming capsule may hold, and who owns the memory at each moment.
//
// A capsule is live until somebody takes its tensor, then used; a live capsule that is dropped deletes its tensor
// itself (R9). So whatever is wrong with an incoming capsule is found before it is marked as used: a refusal leaves it
// as it was.
//
//	t, err := capsule.Import(object) // a godlpack.Tensor, or an error and a capsule that is still live
//	c, err := capsule.Export(t, capsule.Request{Versioned: true})
package capsule
