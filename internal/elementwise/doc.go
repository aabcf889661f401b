// Package elementwise is the wheel's own kernels: what Tensor's copies, fills and astype come to. They are functions like
// those that authors write, declared and called in the same convention, and so they share the work between processors,
// and stop when somebody presses Ctrl-C:
//
//	err := elementwise.Copy(caller, elementwise.At(dst, 0), elementwise.At(src, dlpack.ReadOnly))
package elementwise
