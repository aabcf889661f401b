package bpe

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A kind of characters, as GPT-2's pattern has them:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
type kind uint8

const (
	other kind = iota
	letter
	number
	space
)

// kinds has those of the characters up to U+FFFF, for which a search in Unicode's tables would take most of the time.
var kinds = sync.OnceValue(func() *[1 << 16]kind {
	var table [1 << 16]kind
	for r := range table {
		table[r] = search(rune(r))
	}
	return &table
})

func search(r rune) kind {
	switch {
	case unicode.IsSpace(r):
		return space
	case unicode.IsLetter(r) || unicode.Is(newerLetters, r):
		return letter
	case unicode.IsNumber(r) || unicode.Is(newerNumbers, r):
		return number
	}
	return other
}

// A splitter splits texts into the pieces whose bytes are merged.
type splitter struct {
	kinds *[1 << 16]kind
}

// first returns the kind and the size of the first character.
func (s splitter) first(text string) (kind, int) {
	if b := text[0]; b < utf8.RuneSelf {
		return s.kinds[b], 1
	}
	r, size := utf8.DecodeRuneInString(text)
	if int(r) < len(s.kinds) {
		return s.kinds[r], size
	}
	return search(r), size
}

// run returns the size of the characters of a kind from a place on, and that of the last of them.
func (s splitter) run(text string, from int, k kind) (size, last int) {
	for at := from; at < len(text); {
		next, n := s.first(text[at:])
		if next != k {
			break
		}
		at += n
		size, last = size+n, n
	}
	return size, last
}

// piece returns the size of the first piece of a text.
func (s splitter) piece(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	from := 0
	if text[0] == ' ' && len(text) > 1 {
		from = 1
	}
	if k, _ := s.first(text[from:]); k != space {
		size, _ := s.run(text, from, k)
		return from + size
	}
	// Spaces before a word leave it the last of them.
	size, last := s.run(text, 0, space)
	if size < len(text) && size > last {
		return size - last
	}
	return size
}

// contraction returns the size of one of English at the start of a text, or 0.
func contraction(text string) int {
	if text[0] != '\'' {
		return 0
	}
	for _, end := range [...]string{"s", "t", "re", "ve", "m", "ll", "d"} {
		if strings.HasPrefix(text[1:], end) {
			return 1 + len(end)
		}
	}
	return 0
}
