// Package elementwise contains the wheel's own kernels, for Tensor's copies, fills and astype. They are functions like
// those of authors, declared and called in the same convention. So they divide the work between processors, and stop when
// somebody presses Ctrl-C:
//
//	err := elementwise.Copy(caller, elementwise.At(dst, 0), elementwise.At(src, dlpack.ReadOnly))
package elementwise
