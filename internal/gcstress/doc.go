// Package gcstress collects garbage and moves stacks where Go's collector cannot find pointers: at each entry from C, and
// while a call's values are packed. Only builds with the tag gcstress do so (tools/gcstress.py).
//
//	p := cell.Value.Tensor()
//	gcstress.Crossing() // p's tensor must still be there: the stack has moved, and garbage is collected
package gcstress
