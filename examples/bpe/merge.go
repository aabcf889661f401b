package bpe

import (
	"math/bits"
	"slices"

	"godlpack/kernel"
)

// merges are the pairs of tokens that become one, in a hash table with open addresses: a lookup is most often one access to
// memory.
type merges struct {
	slots []merge // a power of two, at least a half of them free
	shift uint
}

// A merge says that a pair becomes a token, and when: those of lower ranks come first.
type merge struct {
	left, right int32
	rank        uint32
	token       int32
}

// none is the rank of pairs that stay.
const none = 1<<32 - 1

func newMerges(n int) merges {
	size := bits.Len(uint(2*n + 2))
	m := merges{slots: make([]merge, 1<<size), shift: uint(64 - size)}
	for i := range m.slots {
		m.slots[i].rank = none
	}
	return m
}

// slot returns the place of a pair, or the free one where it would be.
func (m *merges) slot(left, right int32) *merge {
	key := uint64(uint32(left))<<32 | uint64(uint32(right))
	for i := key * 0x9e3779b97f4a7c15 >> m.shift; ; i++ {
		slot := &m.slots[i&uint64(len(m.slots)-1)]
		if slot.rank == none || slot.left == left && slot.right == right {
			return slot
		}
	}
}

// A merger merges pieces, one after the other, with the same buffers.
type merger struct {
	*model
	ctx    *kernel.Ctx
	ids    []int32 // of encode
	tokens []int32
	ranks  []uint32 // of each token with the next
	next   []int32  // of each token: where the next one is, if it is not the next in memory
	before []int32
	queue  []uint64 // ranks, with places
}

// short is the size up to which looking through all pairs takes less time than a queue.
const short = 48

// appendPiece appends the tokens of a piece: those that remain when always the pair of lowest rank is merged, the first one of
// several.
func (m *merger) appendPiece(ids []int32, piece string) []int32 {
	if id, known := m.whole[piece]; known {
		return append(ids, id)
	}
	m.begin(piece)
	if len(piece) <= short {
		m.scan()
	} else {
		m.long()
	}
	return append(ids, m.tokens...)
}

// begin starts with the tokens of the piece's bytes.
func (m *merger) begin(piece string) {
	m.tokens, m.ranks = m.tokens[:0], m.ranks[:0]
	for i := range len(piece) {
		m.tokens = append(m.tokens, m.bytes[piece[i]])
	}
	for i := range m.tokens[1:] {
		m.ranks = append(m.ranks, m.slot(m.tokens[i], m.tokens[i+1]).rank)
	}
	m.ranks = append(m.ranks, none)
}

// scan merges the tokens of a short piece.
func (m *merger) scan() {
	for {
		at, least := 0, uint32(none)
		for i, rank := range m.ranks {
			if rank < least {
				at, least = i, rank
			}
		}
		if least == none {
			return
		}
		m.tokens[at] = m.slot(m.tokens[at], m.tokens[at+1]).token
		m.tokens = slices.Delete(m.tokens, at+1, at+2)
		m.ranks = slices.Delete(m.ranks, at, at+1)
		if at+1 < len(m.tokens) {
			m.ranks[at] = m.slot(m.tokens[at], m.tokens[at+1]).rank
		}
		if at > 0 {
			m.ranks[at-1] = m.slot(m.tokens[at-1], m.tokens[at]).rank
		}
	}
}

// long merges the tokens of a long piece: in a list, in the order of a queue.
func (m *merger) long() {
	n := len(m.tokens)
	m.next, m.before, m.queue = slices.Grow(m.next[:0], n)[:n], slices.Grow(m.before[:0], n)[:n], m.queue[:0]
	for i := range n {
		m.next[i], m.before[i] = int32(i+1), int32(i-1)
		m.offer(i)
		if i%4096 == 0 && m.ctx.Err() != nil {
			return
		}
	}
	for count := 0; len(m.queue) > 0; count++ {
		if count%4096 == 0 && m.ctx.Err() != nil {
			return
		}
		least := m.pop()
		at := int(uint32(least))
		if m.ranks[at] != uint32(least>>32) { // one of the pair was merged with another
			continue
		}
		m.join(at)
	}
	kept := m.tokens[:0]
	for at := 0; at < n; at = int(m.next[at]) {
		kept = append(kept, m.tokens[at])
	}
	m.tokens = kept
}

// join merges the token at a place with the next.
func (m *merger) join(at int) {
	right := m.next[at]
	m.tokens[at] = m.slot(m.tokens[at], m.tokens[right]).token
	m.next[at], m.ranks[right] = m.next[right], none
	m.ranks[at] = none
	if next := int(m.next[at]); next < len(m.tokens) {
		m.before[next] = int32(at)
		m.ranks[at] = m.slot(m.tokens[at], m.tokens[next]).rank
		m.offer(at)
	}
	if before := int(m.before[at]); before >= 0 {
		m.ranks[before] = m.slot(m.tokens[before], m.tokens[at]).rank
		m.offer(before)
	}
}

// offer puts the pair at a place into the queue, a heap whose first element is the least.
func (m *merger) offer(at int) {
	if m.ranks[at] == none {
		return
	}
	m.queue = append(m.queue, uint64(m.ranks[at])<<32|uint64(at))
	for i := len(m.queue) - 1; i > 0 && m.queue[i] < m.queue[(i-1)/2]; i = (i - 1) / 2 {
		m.queue[i], m.queue[(i-1)/2] = m.queue[(i-1)/2], m.queue[i]
	}
}

func (m *merger) pop() uint64 {
	least, last := m.queue[0], len(m.queue)-1
	m.queue[0] = m.queue[last]
	m.queue = m.queue[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && m.queue[child+1] < m.queue[child] {
			child++
		}
		if child >= last || m.queue[i] <= m.queue[child] {
			return least
		}
		m.queue[i], m.queue[child] = m.queue[child], m.queue[i]
		i = child
	}
}
