package textfeat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// appendLower appends text in lower case, by the full mapping of Unicode (section 3.13), as Python's str.lower does. It
// differs from Go's strings.ToLower in two letters: İ becomes i with a dot above it, and Σ at the end of a word becomes ς.
func appendLower(to []byte, text string) []byte {
	for i, r := range text {
		switch {
		case 'A' <= r && r <= 'Z':
			to = append(to, byte(r)+'a'-'A')
		case r < utf8.RuneSelf:
			to = append(to, byte(r))
		case r == 'İ':
			to = append(to, "i\u0307"...)
		case r == 'Σ' && endsWord(text[:i], text[i+len("Σ"):]):
			to = append(to, "ς"...)
		default:
			to = utf8.AppendRune(to, unicode.ToLower(r))
		}
	}
	return to
}

// endsWord is Unicode's condition Final_Sigma (table 3-17): without the characters that are ignored by case, a cased letter
// comes directly before, and none directly after.
func endsWord(before, behind string) bool {
	before = strings.TrimRightFunc(before, ignoredByCase)
	behind = strings.TrimLeftFunc(behind, ignoredByCase)
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(behind)
	return before != "" && cased(last) && (behind == "" || !cased(next))
}

// cased is Unicode's property Cased (definition D135).
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// ignoredByCase is Unicode's property Case_Ignorable (definition D136): marks, modifiers, and punctuation inside words.
func ignoredByCase(r rune) bool {
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune(inWords, r)
}

// inWords have Word_Break = MidLetter, MidNumLet or Single_Quote.
const inWords = "'.:··՟״‘’․‧︓﹒﹕＇．："
