package shards

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"godlpack/kernel"
)

// A state is a place in the order of samples.
type state struct {
	Of    string     `json:"of"` // the fingerprint of the Reader
	Epoch int64      `json:"epoch"`
	Open  []position `json:"open"`  // the shards that are being read
	Next  int        `json:"next"`  // the next shard
	Turn  int        `json:"turn"`  // which of the open shards is next
	Begun int64      `json:"begun"` // the samples before the block
	Skip  int        `json:"skip"`  // the samples of the block that have been given
}

// A position is a place in a shard.
type position struct {
	Shard  int   `json:"shard"` // by its place in the order of the epoch
	Sample int64 `json:"sample"`
}

// fingerprint is what states must have in common: what decides on the order.
func (r *Reader) fingerprint(urls []string) string {
	o := r.options
	text, err := json.Marshal([]any{urls, len(r.shards), o.Batch, o.Shuffle, o.Seed, o.Part, o.Parts, o.Open})
	if err != nil {
		panic(err) // texts and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// start returns the place from which to read.
func (r *Reader) start(epoch int64, text string) (at state, err error) {
	if text == "" {
		at = state{Of: r.of, Epoch: epoch}
		count := len(r.order(epoch))
		for at.Next < min(r.options.Open, count) {
			at.Open = append(at.Open, position{Shard: at.Next})
			at.Next++
		}
		return at, nil
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return at, kernel.Errorf(kernel.ValueError, "state: want one that state_dict() returned: %w", err)
	}
	count := len(r.order(at.Epoch))
	valid := at.Epoch == epoch && at.Next >= 0 && at.Next <= count && at.Turn >= 0 && at.Turn < max(1, len(at.Open)) && at.Skip >= 0
	for _, p := range at.Open {
		valid = valid && p.Shard >= 0 && p.Shard < count && p.Sample >= 0
	}
	if at.Of != r.of || !valid {
		return at, kernel.Errorf(kernel.ValueError,
			"state: it is of a loader with other files or options: the same urls, batch, shuffle, seed, open and number of workers give the same order")
	}
	return at, nil
}

// random returns a source of random numbers, the same for the same numbers.
func (r *Reader) random(epoch, what int64) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d", r.options.Seed, epoch, what))
	return rand.New(rand.NewChaCha8(sum))
}

// order returns the shards of an epoch that are of this part.
func (r *Reader) order(epoch int64) []int {
	all := make([]int, len(r.shards))
	for i := range all {
		all[i] = i
	}
	if r.options.Shuffle > 0 {
		r.random(epoch, -1).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	var own []int
	for i := r.options.Part; i < len(all); i += r.options.Parts {
		own = append(own, all[i])
	}
	return own
}

// A mixer takes samples from the open shards: if the order is random, from one after the other, and else from the first one
// until it ends, while the next ones are being read ahead.
type mixer struct {
	reader  *Reader
	order   []int
	at      state
	streams []*stream
}

// A placed sample knows its place.
type placed struct {
	sample
	block state // its beginning, or if last is set, that of the next one
	skip  int   // the samples of the block up to this one
}

// state returns the state after the sample.
func (p placed) state() string {
	p.block.Skip = p.skip
	text, err := json.Marshal(p.block)
	if err != nil {
		panic(err) // numbers
	}
	return string(text)
}

// samples yields the samples in order.
func (r *Reader) samples(ctx context.Context, at state) iter.Seq2[placed, error] {
	return func(yield func(placed, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		m := mixer{reader: r, order: r.order(at.Epoch), at: at}
		for _, p := range at.Open {
			m.streams = append(m.streams, r.openStream(ctx, m.order, p))
		}
		for skip := at.Skip; ; skip = 0 {
			begin := m.state()
			block, err := m.fill(ctx)
			if r.options.Shuffle > 0 {
				random := r.random(at.Epoch, begin.Begun)
				random.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
			}
			end := m.state()
			for i := skip; i < len(block); i++ {
				one := placed{block[i], begin, i + 1}
				if i == len(block)-1 {
					one.block, one.skip = end, 0
				}
				if !yield(one, nil) {
					return
				}
			}
			if err != nil || len(block) == 0 {
				if err != nil {
					yield(placed{}, err)
				}
				return
			}
		}
	}
}

// state returns the place of the next sample.
func (m *mixer) state() state {
	at := m.at
	at.Skip, at.Open = 0, nil
	for _, st := range m.streams {
		at.Open = append(at.Open, st.at)
	}
	return at
}

// fill returns the next block: the samples among which the order is random, or else as many as a batch has; fewer at the end.
func (m *mixer) fill(ctx context.Context) (block []sample, err error) {
	n := m.reader.options.Shuffle
	if n == 0 {
		n = m.reader.options.Batch
	}
	for len(block) < n && len(m.streams) > 0 {
		one, ok, last, err := m.streams[m.at.Turn].next(ctx)
		switch {
		case err != nil:
			return block, err
		case !ok:
			m.replace(ctx)
			continue
		}
		block = append(block, one)
		m.at.Begun++
		if last && m.reader.options.Shuffle > 0 {
			m.at.Turn = (m.at.Turn + 1) % len(m.streams)
		}
	}
	return block, nil
}

// replace opens the next shard in place of one that has ended; if the order is not random, behind the others.
func (m *mixer) replace(ctx context.Context) {
	m.streams[m.at.Turn].cancel()
	var next []*stream
	if m.at.Next < len(m.order) {
		next = append(next, m.reader.openStream(ctx, m.order, position{Shard: m.at.Next}))
		m.at.Next++
	}
	if m.reader.options.Shuffle > 0 {
		m.streams = slices.Replace(m.streams, m.at.Turn, m.at.Turn+1, next...)
	} else {
		m.streams = append(m.streams[1:], next...)
	}
	if len(m.streams) > 0 {
		m.at.Turn %= len(m.streams)
	}
}
