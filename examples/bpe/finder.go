package bpe

import (
	"slices"
	"strings"
)

// A finder finds tokens in texts: those that begin with each byte, the longest first.
type finder [256][]addedToken

func (f *finder) add(token addedToken) {
	first := &f[token.Content[0]]
	*first = append(*first, token)
	slices.SortStableFunc(*first, func(a, b addedToken) int { return len(b.Content) - len(a.Content) })
}

// find returns the place of the first token in a text, and the longest of several there; nil if there is none.
func (f *finder) find(text string) (int, *addedToken) {
	for at := range len(text) {
		tokens := f[text[at]]
		for i := range tokens {
			if strings.HasPrefix(text[at:], tokens[i].Content) {
				return at, &tokens[i]
			}
		}
	}
	return len(text), nil
}
