package bpe

import "unicode/utf8"

// The alphabet is what stands for bytes in files: for those that print, the character with that number, and for the others
// those from Ā on.
var (
	letterOf [256]rune
	byteOf   = map[rune]byte{}
)

func init() {
	next := rune(256)
	for b := range letterOf {
		r := rune(b)
		if !('!' <= r && r <= '~' || '¡' <= r && r <= '¬' || '®' <= r && r <= 'ÿ') {
			r = next
			next++
		}
		letterOf[b] = r
		byteOf[r] = byte(b)
	}
}

// bytesOf returns the bytes that a token stands for, and whether it is written in the alphabet.
func bytesOf(token string) (string, bool) {
	text := make([]byte, 0, len(token))
	for _, r := range token {
		b, known := byteOf[r]
		if !known {
			return token, false
		}
		text = append(text, b)
	}
	return string(text), true
}

// replacement stands for bytes that are not UTF-8.
const replacement = string(utf8.RuneError)

// text returns bytes as UTF-8, with a replacement for each part of a character, as Python's errors="replace" has it: Go's own
// functions count each byte, or all in a row.
func text(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r != utf8.RuneError || size > 1 {
			out = append(out, b[:size]...)
		} else {
			out = append(out, replacement...)
			size = partial(b)
		}
		b = b[size:]
	}
	return string(out)
}

// partial returns the size of what begins a character at the start of b, and does not end it; at least 1.
func partial(b []byte) int {
	for size := min(3, len(b)); size > 1; size-- {
		if begins(b[:size]) {
			return size
		}
	}
	return 1
}

// begins reports whether some character's UTF-8 begins with these bytes, and has more.
func begins(b []byte) bool {
	for last := range 2 { // the least and the greatest end decide: in between are no others
		whole := append([]byte(nil), b...)
		for len(whole) < 4 && !utf8.Valid(whole) {
			whole = append(whole, 0x80+byte(last)*0x3f)
		}
		if utf8.Valid(whole) && len(whole) > len(b) {
			return true
		}
	}
	return false
}
