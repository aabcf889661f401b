// Command empty is a library whose one function does nothing: what C pays to enter Go.
package main

import "C"

func main() {}

//export bench_empty
func bench_empty() {}
