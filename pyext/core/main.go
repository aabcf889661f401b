package main

import "C"

import _ "godlpack/pyext" // registers every operation at the door

func main() {}
