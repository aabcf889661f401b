package main

import "C"

import _ "godlpack/pyext" // registers every operation at the entry

func main() {}
