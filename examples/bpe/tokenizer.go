package bpe

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Tokenizer turns texts into the tokens of a byte-level byte-pair vocabulary, and back. It does not change, so all threads may
// use it at a time.
//
//godlpack:export
type Tokenizer struct {
	*model
	source  []byte // for pickle
	mergers sync.Pool
}

// FromFile reads a tokenizer.json, as HuggingFace's tokenizers saves it, of a model "BPE" with a pre-tokenizer "ByteLevel".
//
// FormatError: the file is something else, or has settings that would give other tokens than tokenizers.
//
//godlpack:export Tokenizer.from_file
func FromFile(path string) (*Tokenizer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := new(Tokenizer)
	if err := t.UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// FromStr reads what from_file does from a text.
//
//godlpack:export Tokenizer.from_str
func FromStr(json string) (*Tokenizer, error) {
	t := new(Tokenizer)
	if err := t.UnmarshalBinary([]byte(json)); err != nil {
		return nil, err
	}
	return t, nil
}

// MarshalBinary is for pickle: what the tokenizer was read from.
func (t *Tokenizer) MarshalBinary() ([]byte, error) { return t.source, nil }

// UnmarshalBinary is for pickle.
func (t *Tokenizer) UnmarshalBinary(data []byte) (err error) {
	t.model, err = readModel(data)
	t.source = slices.Clone(data)
	return err
}

// Encode returns the numbers of a text's tokens, int64. It adds none at the ends.
//
//godlpack:export
//godlpack:result like=numpy
func (t *Tokenizer) Encode(ctx *kernel.Ctx, text string) (tensor.Mut[int64], error) {
	m := t.merger(ctx)
	defer t.mergers.Put(m)
	m.ids = m.appendText(m.ids[:0], text)
	if err := ctx.Err(); err != nil {
		return tensor.Mut[int64]{}, err
	}
	out := kernel.Empty[int64](ctx, int64(len(m.ids)))
	widen(out.Slice(), m.ids)
	return out, nil
}

// EncodeBatch returns the tokens of all texts, one after the other, and where each text's begin and end: those of
// texts[i] are ids[offsets[i]:offsets[i+1]]. It works in godlpack.get_num_threads() threads.
//
//godlpack:export
//godlpack:result like=numpy
func (t *Tokenizer) EncodeBatch(ctx *kernel.Ctx, texts []string) (ids, offsets tensor.Mut[int64], err error) {
	parts := make([][]int32, len(texts))
	kernel.Parallel(ctx, len(texts), func(lo, hi int) {
		m := t.merger(ctx)
		defer t.mergers.Put(m)
		var all []int32
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			from := len(all)
			all = m.appendText(all, texts[i])
			parts[i] = all[from:len(all):len(all)]
		}
	})
	offsets = kernel.Empty[int64](ctx, int64(len(texts)+1))
	at := offsets.Slice()
	at[0] = 0
	for i, part := range parts {
		at[i+1] = at[i] + int64(len(part))
	}
	ids = kernel.Empty[int64](ctx, at[len(texts)])
	for i, part := range parts {
		widen(ids.Slice()[at[i]:], part)
	}
	return ids, offsets, nil
}

// widen copies numbers. Frameworks want them as int64; four bytes are enough inside.
func widen(to []int64, from []int32) {
	for i, id := range from {
		to[i] = int64(id)
	}
}

// Decode returns the text of tokens. Bytes that are not UTF-8, as of half a character, become U+FFFD. Special tokens are left
// out, by default.
//
//godlpack:export
//godlpack:arg ids shape=[*]
//godlpack:arg skipSpecialTokens default=true
func (t *Tokenizer) Decode(ids tensor.Of[int64], skipSpecialTokens bool) (string, error) {
	data, err := t.decode(ids, skipSpecialTokens)
	return text(data), err
}

// DecodeBytes returns the bytes of tokens, which need not be UTF-8. Special tokens are left out, by default.
//
//godlpack:export
//godlpack:arg ids shape=[*]
//godlpack:arg skipSpecialTokens default=true
func (t *Tokenizer) DecodeBytes(ids tensor.Of[int64], skipSpecialTokens bool) ([]byte, error) {
	return t.decode(ids, skipSpecialTokens)
}

func (t *Tokenizer) decode(ids tensor.Of[int64], skipSpecial bool) ([]byte, error) {
	data := make([]byte, 0, 4*ids.Len())
	for _, id := range ids.All() {
		if !t.known(id) {
			return nil, &UnknownTokenError{id}
		}
		if !skipSpecial || !t.special[int32(id)] {
			data = append(data, t.decoded[id]...)
		}
	}
	return data, nil
}

func (t *Tokenizer) known(id int64) bool {
	return 0 <= id && id < int64(len(t.spelled)) && t.spelled[id] != ""
}

// TokenToID returns the number of a token, as the file spells it, or None.
//
//godlpack:export token_to_id
func (t *Tokenizer) TokenToID(token string) *int32 {
	if id, known := t.numbers[token]; known {
		return &id
	}
	return nil
}

// IDToToken returns the token of a number, as the file spells it: "Ġthe" is " the".
//
//godlpack:export id_to_token
func (t *Tokenizer) IDToToken(id int64) (string, error) {
	if !t.known(id) {
		return "", &UnknownTokenError{id}
	}
	return t.spelled[id], nil
}

// VocabSize returns the number of tokens without added ones.
//
//godlpack:get vocab_size
func (t *Tokenizer) VocabSize() int { return t.vocab }

// Len returns the number of tokens, with added ones.
func (t *Tokenizer) Len() int { return len(t.numbers) }

func (t *Tokenizer) String() string { return fmt.Sprintf("<Tokenizer: %d tokens>", t.Len()) }

// merger returns an unused merger.
func (t *Tokenizer) merger(ctx *kernel.Ctx) *merger {
	m, ok := t.mergers.Get().(*merger)
	if !ok {
		m = &merger{model: t.model}
	}
	m.ctx = ctx
	return m
}

// appendText appends the tokens of a text: the added tokens in it, and those of what is between them.
func (m *merger) appendText(ids []int32, text string) []int32 { return m.appendAround(ids, text, 0) }

// appendAround looks for a group of added tokens, and for the later groups between them.
func (m *merger) appendAround(ids []int32, text string, group int) []int32 {
	if group == len(m.added) {
		return m.appendPieces(ids, text)
	}
	for {
		at, found := m.added[group].find(text)
		if found == nil {
			return m.appendAround(ids, text, group+1)
		}
		ids = append(m.appendAround(ids, text[:at], group+1), found.ID)
		text = text[at+len(found.Content):]
	}
}

// appendPieces appends the tokens of a text without added ones.
func (m *merger) appendPieces(ids []int32, text string) []int32 {
	if text == "" {
		return ids
	}
	if m.prefix && text[0] != ' ' {
		text = " " + text
	}
	if !m.splits {
		return m.appendPiece(ids, text)
	}
	s := splitter{kinds()}
	for count := 1; text != ""; count++ {
		size := s.piece(text)
		ids = m.appendPiece(ids, text[:size])
		text = text[size:]
		if count%4096 == 0 && m.ctx.Err() != nil {
			break
		}
	}
	return ids
}
