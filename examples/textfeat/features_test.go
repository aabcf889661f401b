package textfeat

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"godlpack/dlpack"
)

func ExampleHashNgrams() {
	texts := []string{"the cat and the dog", "", "the cat"}
	indptr, indices, values, err := HashNgrams(nil, texts, 1000, "word", []int{1, 1}, true, false, "none")
	fmt.Println(indptr.Slice(), indices.Slice(), values.Slice(), err)
	// Output: [0 4 4 6] [93 759 845 958 759 958] [1 1 1 2 1 1] <nil>
}

func TestRowsAreThoseOfEachTextAlone(t *testing.T) {
	var texts []string
	for i := range 300 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("word%d of %d ", i, i%7), i%11))
	}
	indptr, indices, values, err := HashNgrams(nil, texts, 50, "word", []int{1, 2}, true, true, "l2")
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		from, to := indptr.At(i), indptr.At(i+1)
		_, wantIndices, wantValues, _ := HashNgrams(nil, []string{text}, 50, "word", []int{1, 2}, true, true, "l2")
		if !slices.Equal(indices.Slice()[from:to], wantIndices.Slice()) || !slices.Equal(values.Slice()[from:to], wantValues.Slice()) {
			t.Errorf("text %d: %v %v, want %v %v", i, indices.Slice()[from:to], values.Slice()[from:to], wantIndices, wantValues)
		}
	}
}

func TestNorms(t *testing.T) {
	for norm, length := range map[string]func([]float32) float64{"l1": l1, "l2": l2} {
		_, _, values, err := HashNgrams(nil, []string{"one two two three three three"}, 1<<20, "word", []int{1, 3}, true, true, norm)
		if got := length(values.Slice()); err != nil || math.Abs(got-1) > 1e-6 {
			t.Errorf("%s: length %v, error %v", norm, got, err)
		}
	}
}

func TestCollisionsCancel(t *testing.T) {
	indptr, indices, values, err := HashNgrams(nil, []string{"aa bb cc dd"}, 1, "word", []int{1, 1}, true, true, "l2")
	if err != nil || indptr.At(1) != 1 || indices.At(0) != 0 {
		t.Fatal(indptr.Slice(), indices.Slice(), err)
	}
	if v := values.At(0); v != 0 && v != 1 && v != -1 {
		t.Errorf("one column of a row of length 1, or of nothing: got %v", v)
	}
}

func TestBadOptions(t *testing.T) {
	for want, call := range map[string]func() error{
		`analyzer: want "word", "char" or "char_wb", got "letters"`:   func() error { return hash(10, "letters", []int{1, 1}, "l2") },
		`norm: want "l1", "l2" or "none", got "max"`:                  func() error { return hash(10, "word", []int{1, 1}, "max") },
		"n_features: want 1 to 2147483647, got 0":                     func() error { return hash(0, "word", []int{1, 1}, "l2") },
		"n_features: want 1 to 2147483647, got 2147483648":            func() error { return hash(1<<31, "word", []int{1, 1}, "l2") },
		"ngram_range: want [shortest, longest], from 1 on, got [2 1]": func() error { return hash(10, "word", []int{2, 1}, "l2") },
		"ngram_range: want [shortest, longest], from 1 on, got [0 1]": func() error { return hash(10, "word", []int{0, 1}, "l2") },
		"ngram_range: want [shortest, longest], from 1 on, got [1]":   func() error { return hash(10, "word", []int{1}, "l2") },
	} {
		var e *dlpack.Error
		if err := call(); !errors.As(err, &e) || e.Kind != dlpack.KindValue || e.Msg != "hash_ngrams(): "+want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func hash(nFeatures int, analyzer string, ngramRange []int, norm string) error {
	_, _, _, err := HashNgrams(nil, []string{"some text"}, nFeatures, analyzer, ngramRange, true, true, norm)
	return err
}
