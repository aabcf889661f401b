package tvmffi_test

import (
	"fmt"

	"godlpack/tvmffi"
)

// RegisterTVM is the function that an author adds to a package. Python calls it after import tvm_ffi.
//
//godlpack:export
func RegisterTVM(prefix string) (int, error) { return tvmffi.Register(prefix) }

// Here nobody has loaded tvm-ffi, and so there is nothing to register with.
func Example() {
	n, err := RegisterTVM("fastops.")
	fmt.Println(n, err)
	// Output: 0 RuntimeError: want libtvm_ffi in this process, got none: import tvm_ffi first
}
