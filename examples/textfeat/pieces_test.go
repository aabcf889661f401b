package textfeat

import (
	"slices"
	"testing"
)

func TestAnalyzers(t *testing.T) {
	for _, test := range []struct {
		analyzer, text    string
		shortest, longest int
		want              []string
	}{
		{"word", "", 1, 2, nil},
		{"word", "I am, it_is 42!", 1, 1, []string{"am", "it_is", "42"}},
		{"word", "one  two\nthree", 2, 3, []string{"one two", "two three", "one two three"}},
		{"word", "naïve 東京 a", 1, 9, []string{"naïve", "東京", "naïve 東京"}},
		{"char", "a \t b\n", 1, 1, []string{"a", " ", "b", "\n"}},
		{"char", "né", 2, 3, []string{"né"}},
		{"char_wb", " ab  c ", 3, 3, []string{" ab", "ab ", " c "}},
		{"char_wb", "ab c", 4, 6, []string{" ab ", " c "}},
		{"char_wb", "ab", 3, 6, []string{" ab", "ab ", " ab "}},
		{"char_wb", "a\x1cb", 5, 5, []string{" a ", " b "}},
	} {
		var got []string
		analyzers[test.analyzer](&pieces{}, []byte(test.text), test.shortest, test.longest, func(ngram []byte) {
			got = append(got, string(ngram))
		})
		if !slices.Equal(got, test.want) {
			t.Errorf("%s %d to %d of %q: %q, want %q", test.analyzer, test.shortest, test.longest, test.text, got, test.want)
		}
	}
}
