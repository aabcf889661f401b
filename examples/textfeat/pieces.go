package textfeat

import (
	"unicode"
	"unicode/utf8"
)

// pieces are the parts of n-grams, tokens or code points, in order in a text: those from i to j are the n-gram
// text[starts[i]:ends[j]].
type pieces struct {
	text         []byte
	starts, ends []int
}

// clear removes all pieces, and keeps their memory.
func (p *pieces) clear() { p.text, p.starts, p.ends = p.text[:0], p.starts[:0], p.ends[:0] }

// add appends one piece.
func (p *pieces) add(piece ...byte) {
	p.starts = append(p.starts, len(p.text))
	p.text = append(p.text, piece...)
	p.ends = append(p.ends, len(p.text))
}

// ngrams visits the n-grams of shortest to longest pieces.
func (p *pieces) ngrams(shortest, longest int, visit func([]byte)) {
	for n := shortest; n <= min(longest, len(p.starts)); n++ {
		for i := range len(p.starts) - n + 1 {
			visit(p.text[p.starts[i]:p.ends[i+n-1]])
		}
	}
}

// An analyzer visits the n-grams of a text, with p as its workspace.
type analyzer func(p *pieces, text []byte, shortest, longest int, visit func([]byte))

var analyzers = map[string]analyzer{"word": words, "char": characters, "char_wb": insideWords}

// words uses tokens of two or more code points as pieces, with a blank between two of them.
func words(p *pieces, text []byte, shortest, longest int, visit func([]byte)) {
	p.clear()
	for len(text) > 0 {
		size, count := run(text, inToken)
		if count > 1 {
			if len(p.text) > 0 {
				p.text = append(p.text, ' ')
			}
			p.add(text[:size]...)
		}
		between, _ := run(text[size:], notInToken)
		text = text[size+between:]
	}
	p.ngrams(shortest, longest, visit)
}

// characters uses code points as pieces, with a blank for two or more whitespaces.
func characters(p *pieces, text []byte, shortest, longest int, visit func([]byte)) {
	p.clear()
	for len(text) > 0 {
		size, count := run(text, isSpace)
		if count > 1 {
			p.add(' ')
		} else {
			_, size = utf8.DecodeRune(text)
			p.add(text[:size]...)
		}
		text = text[size:]
	}
	p.ngrams(shortest, longest, visit)
}

// insideWords uses the code points of each word separately as pieces, with a blank at either end. A word that is too short
// for any n-gram counts as one.
func insideWords(p *pieces, text []byte, shortest, longest int, visit func([]byte)) {
	for len(text) > 0 {
		between, _ := run(text, isSpace)
		text = text[between:]
		size, count := run(text, notSpace)
		if count == 0 {
			return
		}
		p.clear()
		p.add(' ')
		for word := text[:size]; len(word) > 0; {
			_, n := utf8.DecodeRune(word)
			p.add(word[:n]...)
			word = word[n:]
		}
		p.add(' ')
		p.ngrams(min(shortest, count+2), longest, visit)
		text = text[size:]
	}
}

// run returns the size in bytes and the number of the code points of a kind at the beginning of text.
func run(text []byte, kind func(rune) bool) (size, count int) {
	for size < len(text) {
		r, n := rune(text[size]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[size:])
		}
		if !kind(r) {
			break
		}
		size, count = size+n, count+1
	}
	return size, count
}

// inToken is \w of Python's re.
func inToken(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

func notInToken(r rune) bool { return !inToken(r) }

// isSpace is \s of Python's re, and the whitespace of str.split: Go's unicode.IsSpace does not include the separators of ASCII.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

func notSpace(r rune) bool { return !isSpace(r) }
