// Package lanes needs of godlpack only what has no name in package dlpack.
package lanes

import "godlpack/tensor"

// Clear sets each vector to zeros.
//
//godlpack:export
func Clear(x tensor.Mut[[4]float32]) {
	for i := range x.Slice() {
		x.Slice()[i] = [4]float32{}
	}
}
