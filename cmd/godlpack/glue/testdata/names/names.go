// Package names declares what the glue would call its imports.
package names

import types "godlpack/dlpack"

var kernel, dlpack = "kernel", "dlpack"

// Cast has a dtype for a default.
//
//godlpack:export
//godlpack:arg to default=float8_e4m3fn
//godlpack:arg on default=cpu
func Cast(to types.DType, on types.Device) string {
	return kernel + " " + dlpack + " " + to.String() + " " + on.String()
}
