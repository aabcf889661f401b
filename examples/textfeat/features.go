package textfeat

import (
	"math"

	"godlpack/kernel"
	"godlpack/tensor"
)

// HashNgrams counts the n-grams of each text in n_features columns and returns the rows as a sparse matrix in CSR: row i has
// the values[indptr[i]:indptr[i+1]] in the columns indices[indptr[i]:indptr[i+1]], which ascend. What the same arguments
// give scikit-learn's HashingVectorizer(dtype=float32), they give here.
//
// The analyzer is "word" (tokens are runs of two or more letters, digits and _), "char" (of all code points, where several
// whitespaces count as one) or "char_wb" (of those inside of words, each with a blank before and behind). There is an n-gram
// for each n from ngram_range[0] to ngram_range[1]. The column is MurmurHash3 of its UTF-8, modulo n_features; with
// alternate_sign the hash's sign decides whether it counts as 1 or as -1, so that collisions cancel each other on average.
// The norm is "l2" or "l1" (each row is scaled to length 1 in it) or "none".
//
// ValueError: an unknown analyzer or norm, a range that is empty or begins below 1, n_features outside of 1 to 2147483647,
// or texts with more n-grams than an int32 can count.
//
//godlpack:export
//godlpack:arg nFeatures default=1048576
//godlpack:arg analyzer default=word
//godlpack:arg ngramRange default=[1,1]
//godlpack:arg lowercase default=true
//godlpack:arg alternateSign default=true
//godlpack:arg norm default=l2
func HashNgrams(ctx *kernel.Ctx, texts []string, nFeatures int, analyzer string, ngramRange []int, lowercase, alternateSign bool,
	norm string) (indptr, indices tensor.Mut[int32], values tensor.Mut[float32], err error) {
	o := options{nFeatures: nFeatures, ngrams: ngramRange, lowercase: lowercase, alternateSign: alternateSign}
	if err = o.choose(analyzer, norm); err != nil {
		return
	}
	rows := make([]row, len(texts))
	kernel.Parallel(ctx, len(texts), func(lo, hi int) {
		c := counter{options: &o}
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			rows[i] = c.count(texts[i])
		}
	})
	if err = ctx.Err(); err != nil {
		return
	}
	return pack(ctx, rows)
}

// options are the arguments, checked.
type options struct {
	nFeatures                int
	ngrams                   []int // the shortest and the longest
	lowercase, alternateSign bool
	analyze                  analyzer
	length                   func([]float32) float64 // of a row, in its norm
}

var norms = map[string]func([]float32) float64{"none": one, "l1": l1, "l2": l2}

// choose checks the options and looks up the analyzer and the norm.
func (o *options) choose(analyzer, norm string) error {
	var known bool
	if o.analyze, known = analyzers[analyzer]; !known {
		return kernel.Errorf(kernel.ValueError, `hash_ngrams(): analyzer: want "word", "char" or "char_wb", got %q`, analyzer)
	}
	if o.length, known = norms[norm]; !known {
		return kernel.Errorf(kernel.ValueError, `hash_ngrams(): norm: want "l1", "l2" or "none", got %q`, norm)
	}
	if o.nFeatures < 1 || o.nFeatures > math.MaxInt32 {
		return kernel.Errorf(kernel.ValueError, "hash_ngrams(): n_features: want 1 to %d, got %d", math.MaxInt32, o.nFeatures)
	}
	if len(o.ngrams) != 2 || o.ngrams[0] < 1 || o.ngrams[0] > o.ngrams[1] {
		return kernel.Errorf(kernel.ValueError, "hash_ngrams(): ngram_range: want [shortest, longest], from 1 on, got %v", o.ngrams)
	}
	return nil
}

func one([]float32) float64 { return 1 }

func l1(values []float32) (sum float64) {
	for _, v := range values {
		sum += math.Abs(float64(v))
	}
	return sum
}

func l2(values []float32) float64 {
	var sum float64
	for _, v := range values {
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}

// pack copies the rows into the caller's tensors.
func pack(ctx *kernel.Ctx, rows []row) (indptr, indices tensor.Mut[int32], values tensor.Mut[float32], err error) {
	total := 0
	for _, r := range rows {
		total += len(r.indices)
	}
	if total > math.MaxInt32 {
		err = kernel.Errorf(kernel.ValueError, "hash_ngrams(): texts: want at most %d features in all, got %d: give fewer texts at a time", math.MaxInt32, total)
		return
	}
	indptr = kernel.Empty[int32](ctx, int64(len(rows)+1))
	indices, values = kernel.Empty[int32](ctx, int64(total)), kernel.Empty[float32](ctx, int64(total))
	starts := indptr.Slice()
	starts[0] = 0
	for i, r := range rows {
		starts[i+1] = starts[i] + int32(len(r.indices))
	}
	kernel.Parallel(ctx, len(rows), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(indices.Slice()[starts[i]:], rows[i].indices)
			copy(values.Slice()[starts[i]:], rows[i].values)
		}
	})
	return
}
