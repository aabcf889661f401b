// Package store is imported by the package that is built.
package store

var hits int

// Limit is only read.
var Limit = 10

// Open is written by the package that imports this one.
var Open map[string]int

// Hit counts.
func Hit() int {
	hits++
	return hits
}
