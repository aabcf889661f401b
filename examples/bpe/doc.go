// Package bpe turns texts into the tokens of a byte-level byte-pair vocabulary, as GPT-2's, and back: the same tokens as the
// package tokenizers of HuggingFace, whose files it reads, but in goroutines and into the caller's own tensors.
//
//	tokenizer, err := bpe.FromFile("tokenizer.json")
//	ids, err := tokenizer.Encode(nil, "the quick brown fox")
//
// The code is plain Go; godlpack makes package main, the sidecar and the glue for Python.
package bpe
