package bpe

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func ExampleTokenizer_Encode() {
	t, err := FromStr(description("t", "h", "th", "e", " ", "th", " th", "e"))
	if err != nil {
		panic(err)
	}
	ids, err := t.Encode(nil, "the thx")
	for _, id := range ids.Slice() {
		token, _ := t.IDToToken(id)
		fmt.Printf("%q ", token)
	}
	fmt.Println(err)
	// Output: "the" "Ġth" "x" <nil>
}

// description makes a tokenizer.json of all bytes and of pairs that are merged, in this order.
func description(pairs ...string) string {
	vocab, spell := map[string]int{}, func(text string) (s string) {
		for _, b := range []byte(text) {
			s += string(letterOf[b])
		}
		return s
	}
	for b := range letterOf {
		vocab[string(letterOf[b])] = b
	}
	var pairsSpelled [][2]string
	for i := 0; i+1 < len(pairs); i += 2 {
		left, right := spell(pairs[i]), spell(pairs[i+1])
		if _, known := vocab[left+right]; !known {
			vocab[left+right] = len(vocab)
		}
		pairsSpelled = append(pairsSpelled, [2]string{left, right})
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false}
	text, err := json.Marshal(map[string]any{"pre_tokenizer": level, "decoder": level,
		"model": map[string]any{"type": "BPE", "vocab": vocab, "merges": pairsSpelled}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestPieces(t *testing.T) {
	s := splitter{kinds()}
	for text, want := range map[string]string{
		"":                        "",
		"Hello world":             "Hello| world",
		"I'll don't 'S's 's":      "I|'ll| don|'t| '|S|'s| '|s",
		"a  b   c":                "a| | b|  | c",
		"a \n b\t\tc ":            "a| \n| b|\t|\t|c| ",
		"x12½Ⅷ³ 34":               "x|12½Ⅷ³| 34",
		"a!?'s ...'":              "a|!?'|s| ...'",
		"東京 ひ\u3000\u00a0x\u0085": "東京| ひ|\u3000|\u00a0|x|\u0085",
		"  ":                      "  ",
		"e\u0301 \U00010d4a1":     "e|\u0301| \U00010d4a|1",
	} {
		var pieces []string
		for rest := text; rest != ""; {
			n := s.piece(rest)
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := strings.Join(pieces, "|"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestTheQueueMergesAsTheScanDoes compares the two ways, with ranks in any order.
func TestTheQueueMergesAsTheScanDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tokens, pairs := []string{"a", "b", "c"}, []string{}
		for range 12 {
			left, right := tokens[r.IntN(len(tokens))], tokens[r.IntN(len(tokens))]
			tokens, pairs = append(tokens, left+right), append(pairs, left, right)
		}
		for i := len(pairs) - 2; i > 0; i -= 2 { // in another order
			j := 2 * r.IntN(i/2+1)
			pairs[i], pairs[i+1], pairs[j], pairs[j+1] = pairs[j], pairs[j+1], pairs[i], pairs[i+1]
		}
		m, err := readModel([]byte(description(pairs...)))
		if err != nil {
			t.Fatal(err)
		}
		var ways [2][]int32
		text := make([]byte, 1+r.IntN(300))
		for i := range text {
			text[i] = "abc"[r.IntN(3)]
		}
		for i := range ways {
			way := merger{model: m}
			way.begin(string(text))
			if i == 0 {
				way.scan()
			} else {
				way.long()
			}
			ways[i] = way.tokens
		}
		if !slices.Equal(ways[0], ways[1]) {
			t.Fatalf("%q with %q: the scan has %v, the queue %v", text, pairs, ways[0], ways[1])
		}
	}
}

func TestEachByteHasALetter(t *testing.T) {
	if len(byteOf) != 256 {
		t.Errorf("%d letters", len(byteOf))
	}
	for letter, b := range map[rune]byte{'Ġ': ' ', 'Ċ': '\n', 'a': 'a', 'ÿ': 0xff, 'Ń': 0xad} {
		if byteOf[letter] != b {
			t.Errorf("%c is %#x, want %#x", letter, byteOf[letter], b)
		}
	}
}

func FuzzFromStr(f *testing.F) {
	whole := description("a", "b", "ab", "c")
	f.Add(whole)
	for i := 0; i < len(whole); i += 97 {
		f.Add(whole[:i])
		f.Add(whole[:i] + "0" + whole[i+1:])
	}
	f.Fuzz(func(t *testing.T, json string) {
		tokenizer, err := FromStr(json)
		if err != nil {
			return
		}
		text := "abc <|x|> 'll \U0001f600 abababc"
		ids, err := tokenizer.Encode(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tokenizer.Decode(ids.Of, false); err != nil {
			t.Errorf("%v of %q: %v", ids.Slice(), text, err)
		}
	})
}
