package bpe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// A file is what tokenizers writes, with the fields that matter here.
type file struct {
	Truncation, Padding, Normalizer json.RawMessage
	AddedTokens                     []addedToken `json:"added_tokens"`
	PreTokenizer                    struct {
		Type           string
		AddPrefixSpace bool  `json:"add_prefix_space"`
		UseRegex       *bool `json:"use_regex"`
	} `json:"pre_tokenizer"`
	PostProcessor *struct{ Type string } `json:"post_processor"`
	Decoder       *struct{ Type string }
	Model         modelFile
}

type modelFile struct {
	Type                    string
	Dropout                 *float64
	ContinuingSubwordPrefix string `json:"continuing_subword_prefix"`
	EndOfWordSuffix         string `json:"end_of_word_suffix"`
	ByteFallback            bool   `json:"byte_fallback"`
	IgnoreMerges            bool   `json:"ignore_merges"`
	Vocab                   map[string]int32
	Merges                  []pair
}

type addedToken struct {
	ID                                  int32
	Content                             string
	SingleWord                          bool `json:"single_word"`
	LStrip, RStrip, Normalized, Special bool
}

// A pair is two tokens: as a list, or in older files as a text with a blank between them.
type pair [2]string

func (p *pair) UnmarshalJSON(data []byte) error {
	var two []string
	if data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		two = strings.Split(text, " ")
	} else if err := json.Unmarshal(data, &two); err != nil {
		return err
	}
	if len(two) != 2 {
		return fmt.Errorf("model.merges: want two tokens, got %q", two)
	}
	*p = pair(two)
	return nil
}

// A model is the vocabulary and its merges.
type model struct {
	merges
	numbers map[string]int32 // of the tokens, as the file spells them
	spelled []string         // the tokens; one of no number is ""
	decoded []string         // the bytes that they stand for
	bytes   [256]int32       // the tokens of single bytes
	whole   map[string]int32 // pieces that become one token
	added   [2]finder        // of tokens that are looked for in texts, in this order
	special map[int32]bool
	vocab   int  // without added tokens
	prefix  bool // a blank goes before a text that has none
	splits  bool // texts are split into pieces
}

// readModel reads and checks a tokenizer.json.
func readModel(data []byte) (*model, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, badFormat("want the JSON that tokenizers saves: %v", err)
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	m := &model{vocab: len(f.Model.Vocab), prefix: f.PreTokenizer.AddPrefixSpace, numbers: f.Model.Vocab, special: map[int32]bool{},
		splits: f.PreTokenizer.UseRegex == nil || *f.PreTokenizer.UseRegex}
	if err := m.add(f.AddedTokens); err != nil {
		return nil, err
	}
	if err := m.spell(f.AddedTokens); err != nil {
		return nil, err
	}
	if err := m.readMerges(f.Model); err != nil {
		return nil, err
	}
	return m, m.findWhole(f.Model)
}

// check refuses what would make other tokens.
func (f *file) check() error {
	model := &f.Model
	for _, setting := range []struct {
		right bool
		want  string
	}{
		{model.Type == "BPE" || model.Type == "", "model.type: want BPE, got " + model.Type}, // older files have none
		{model.Dropout == nil || *model.Dropout == 0, "model.dropout: want none"},
		{model.ContinuingSubwordPrefix == "", "model.continuing_subword_prefix: want none"},
		{model.EndOfWordSuffix == "", "model.end_of_word_suffix: want none"},
		{!model.ByteFallback, "model.byte_fallback: want false"},
		{absent(f.Normalizer), "normalizer: want none"},
		{absent(f.Truncation), "truncation: want none"},
		{absent(f.Padding), "padding: want none"},
		{f.PreTokenizer.Type == "ByteLevel", "pre_tokenizer.type: want ByteLevel, got " + f.PreTokenizer.Type},
		{f.PostProcessor == nil || f.PostProcessor.Type == "ByteLevel", "post_processor: want none, or ByteLevel, which adds no tokens"},
		{f.Decoder != nil && f.Decoder.Type == "ByteLevel", "decoder: want ByteLevel"},
	} {
		if !setting.right {
			return badFormat("%s", setting.want)
		}
	}
	return nil
}

func absent(value json.RawMessage) bool { return len(value) == 0 || bytes.Equal(value, []byte("null")) }

// add sorts the added tokens by when they are looked for, and gives them their numbers.
func (m *model) add(tokens []addedToken) error {
	if m.numbers == nil {
		return badFormat("model.vocab: want tokens with numbers")
	}
	m.numbers = maps.Clone(m.numbers)
	for _, token := range tokens {
		if token.SingleWord || token.LStrip || token.RStrip {
			return badFormat("added_tokens: %q: want false for single_word, lstrip and rstrip", token.Content)
		}
		if id, known := m.numbers[token.Content]; known && id != token.ID {
			return badFormat("added_tokens: %q: want the number %d of the vocabulary, got %d", token.Content, id, token.ID)
		}
		m.numbers[token.Content] = token.ID
		m.special[token.ID] = token.Special
		if token.Content != "" {
			later := 0
			if token.Normalized {
				later = 1
			}
			m.added[later].add(token)
		}
	}
	return nil
}

// spell lists the tokens by number. Numbers may have gaps, but not so large ones that a short file takes much memory.
func (m *model) spell(added []addedToken) error {
	most := int32(4*len(m.numbers) + 1<<16)
	for token, id := range m.numbers {
		if id < 0 || id > most {
			return badFormat("%q: want a number from 0 to %d for one of %d tokens, got %d", token, most, len(m.numbers), id)
		}
		if grow := int(id) + 1 - len(m.spelled); grow > 0 {
			m.spelled = append(m.spelled, make([]string, grow)...)
		}
		if other := m.spelled[id]; other != "" {
			return badFormat("%d is the number of two tokens, %q and %q", id, other, token)
		}
		m.spelled[id] = token
	}
	m.decoded = make([]string, len(m.spelled))
	for id, token := range m.spelled {
		m.decoded[id], _ = bytesOf(token)
	}
	for _, token := range added { // they are not written in the alphabet
		m.decoded[token.ID] = token.Content
	}
	for b, r := range letterOf {
		id, known := m.numbers[string(r)]
		if !known {
			return badFormat("model.vocab: want a token for each byte: there is no %q, for 0x%02x", r, b)
		}
		m.bytes[b] = id
	}
	return nil
}

func (m *model) readMerges(f modelFile) error {
	m.merges = newMerges(len(f.Merges))
	for rank, p := range f.Merges {
		var ids [3]int32
		for i, token := range []string{p[0], p[1], p[0] + p[1]} {
			id, known := f.Vocab[token]
			if !known {
				return badFormat("model.merges: %q and %q: there is no token %q", p[0], p[1], token)
			}
			ids[i] = id
		}
		*m.slot(ids[0], ids[1]) = merge{ids[0], ids[1], uint32(rank), ids[2]}
	}
	return nil
}

// findWhole finds the tokens that are the only one of their bytes. Most pieces of a text are such, and need no merging.
func (m *model) findWhole(f modelFile) error {
	m.whole = make(map[string]int32, len(f.Vocab))
	found := make(map[string]int32, len(f.Vocab))
	work := merger{model: m}
	var ids []int32
	for token, id := range f.Vocab {
		piece, inAlphabet := bytesOf(token)
		if !inAlphabet || piece == "" {
			continue
		}
		if ids = work.appendPiece(ids[:0], piece); f.IgnoreMerges || len(ids) == 1 && ids[0] == id {
			found[piece] = id
		}
	}
	m.whole = found
	return nil
}
