// Package gcstress makes Go's memory as unsafe as it may be, where pointers are out of the collector's sight: at each entry
// from C, and where a call lies in packed values. Only builds with the tag gcstress do so (tools/gcstress.py).
package gcstress
