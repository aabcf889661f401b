// Package textfeat turns texts into sparse rows of hashed n-gram counts, bit for bit like scikit-learn's HashingVectorizer,
// but in goroutines and into the caller's own tensors.
//
//	indptr, indices, values, err := textfeat.HashNgrams(nil, []string{"the quick brown fox"}, 1<<20, "word", []int{1, 2}, true, true, "l2")
//
// There is no vocabulary, and so nothing to fit: a feature's number is the hash of its n-gram. The code is plain Go; godlpack
// makes package main, the sidecar and the glue for Python.
package textfeat
