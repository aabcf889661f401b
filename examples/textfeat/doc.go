// Package textfeat turns texts into sparse rows of hashed n-gram counts, as scikit-learn's HashingVectorizer does, bit for
// bit, but in goroutines and into the caller's own tensors.
//
//	indptr, indices, values, err := textfeat.HashNgrams(nil, []string{"the quick brown fox"}, 1<<20, "word", []int{1, 2}, true, true, "l2")
//
// There is no vocabulary, and so nothing to fit: a feature's number is the hash of its n-gram. Package main, the sidecar and
// the glue of Python are godlpack's work; what is here is plain Go.
package textfeat
