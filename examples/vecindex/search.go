package vecindex

import "math"

// A neighbor is a node and its distance from what is searched.
type neighbor struct {
	distance float32
	node     uint32 // with the mark expanded
}

// expanded marks a neighbor whose links have been followed. Nodes are fewer than that.
const expanded = 1 << 31

func (n neighbor) number() uint32 { return n.node &^ expanded }

// A searcher has what one search at a time needs, and keeps the memory for the next.
type searcher struct {
	*Index
	beam   []neighbor // the nearest so far, by distance
	seen   []uint8    // for each node: the round in which it was seen last
	round  uint8
	links  []uint32
	query  []float32  // as the index stores vectors
	chosen []neighbor // of choose
	near   []neighbor // of relink
}

// searcher returns an unused searcher for the nodes that there are.
func (ix *Index) searcher() *searcher {
	s, ok := ix.searchers.Get().(*searcher)
	if !ok {
		s = &searcher{Index: ix, query: make([]float32, ix.stride)}
	}
	if more := ix.graph.len() - len(s.seen); more > 0 {
		s.seen = append(s.seen, make([]uint8, more)...)
	}
	return s
}

// begin starts a search without anything seen.
func (s *searcher) begin() {
	s.beam = s.beam[:0]
	if s.round++; s.round == 0 {
		clear(s.seen)
		s.round = 1
	}
}

// see reports whether a node is seen for the first time.
func (s *searcher) see(node uint32) bool {
	if s.seen[node] == s.round {
		return false
	}
	s.seen[node] = s.round
	return true
}

// descend returns the node nearest to the query that greedy steps find in the layers from the top to the one above bottom.
func (s *searcher) descend(query []float32, entry uint32, top, bottom int) uint32 {
	nearest, best := entry, s.distance(query, s.vector(entry))
	for layer := top; layer > bottom; layer-- {
		for moved := true; moved; {
			moved = false
			s.links = s.graph.appendLinks(s.links[:0], nearest, layer)
			for _, node := range s.links {
				if d := s.distance(query, s.vector(node)); d < best {
					nearest, best, moved = node, d, true
				}
			}
		}
	}
	return nearest
}

// explore fills the beam with the nodes of a layer that are nearest to the query, at most ef: it follows the links of the nearest
// node in the beam whose links it has not followed, until there is none.
func (s *searcher) explore(query []float32, entry uint32, layer, ef int) {
	s.begin()
	s.see(entry)
	s.beam = append(s.beam, neighbor{s.distance(query, s.vector(entry)), entry})
	for next := 0; next < len(s.beam); {
		if s.beam[next].node&expanded != 0 {
			next++
			continue
		}
		node := s.beam[next].node
		s.beam[next].node |= expanded
		next = min(next, s.expand(query, node, layer, ef))
	}
}

// expand offers the unseen nodes that a node links to to the beam, and returns the first place of a new one.
func (s *searcher) expand(query []float32, node uint32, layer, ef int) int {
	first := len(s.beam)
	s.links = s.graph.appendLinks(s.links[:0], node, layer)
	for _, to := range s.links {
		if !s.see(to) {
			continue
		}
		d := s.distance(query, s.vector(to))
		if len(s.beam) < ef || d < s.beam[len(s.beam)-1].distance {
			first = min(first, s.keep(neighbor{d, to}, ef))
		}
	}
	return first
}

// keep inserts a neighbor in its place in the beam, drops the last one of more than ef, and returns the place.
func (s *searcher) keep(n neighbor, ef int) int {
	lo, hi := 0, len(s.beam)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); s.beam[mid].distance < n.distance {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if len(s.beam) < ef {
		s.beam = append(s.beam, neighbor{})
	}
	copy(s.beam[lo+1:], s.beam[lo:])
	s.beam[lo] = n
	return lo
}

// nearest writes the ids and distances of the nodes nearest to s.query. Places that are left get id -1 and an infinite distance.
func (s *searcher) nearest(ef int, ids []int64, distances []float32) {
	s.beam = s.beam[:0]
	if s.graph.len() > 0 {
		g := &s.graph
		s.explore(s.query, s.descend(s.query, g.entry, int(g.top), 0), 0, ef)
	}
	for i := range ids {
		ids[i], distances[i] = -1, float32(math.Inf(1))
		if i < len(s.beam) {
			ids[i], distances[i] = s.ids[s.beam[i].number()], s.beam[i].distance
		}
	}
}
