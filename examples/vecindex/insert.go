package vecindex

import (
	"slices"
	"sync"
)

// A builder inserts nodes into the graph of an index, in several goroutines, and can take all of them out again.
type builder struct {
	*Index
	before int // nodes from here on are new
	old    graph
	grow   sync.Mutex // held by who inserts a node above all layers
	nodes  [1024]sync.Mutex
	undo   sync.Mutex
	saved  map[place][]uint32 // the links that nodes had which are not new
}

// A place is where links are: a node in a layer.
type place struct {
	node  uint32
	layer int
}

func (ix *Index) builder(before int) *builder {
	return &builder{Index: ix, before: before, old: ix.graph, saved: map[place][]uint32{}}
}

// start returns where a search starts.
func (b *builder) start() (entry uint32, top int) {
	b.entering.RLock()
	defer b.entering.RUnlock()
	return b.graph.entry, int(b.graph.top)
}

// insert links a node with the nearest that are found, in each of its layers. Its own links come first: who finds the node can
// go on from it.
func (b *builder) insert(s *searcher, node uint32) {
	level := int(b.graph.levels[node])
	entry, top := b.start()
	if level > top {
		b.grow.Lock() // one after the other, so that none is alone in its layers
		defer b.grow.Unlock()
		entry, top = b.start()
	}
	vector := b.vector(node)
	entry = s.descend(vector, entry, top, level)
	for layer := min(level, top); layer >= 0; layer-- {
		s.explore(vector, entry, layer, b.EfConstruction)
		entry = s.beam[0].number()
		b.graph.setLinks(node, layer, s.choose(s.beam, b.graph.m))
	}
	for layer := min(level, top); layer >= 0; layer-- {
		for _, to := range b.graph.appendLinks(nil, node, layer) {
			b.link(s, place{to, layer}, node)
		}
	}
	if level > top {
		b.entering.Lock()
		b.graph.entry, b.graph.top = node, uint8(level)
		b.entering.Unlock()
	}
}

// link adds a link to a node. If there is no room, the best are chosen among all.
func (b *builder) link(s *searcher, at place, to uint32) {
	lock := &b.nodes[at.node%uint32(len(b.nodes))]
	lock.Lock()
	defer lock.Unlock()
	s.links = b.graph.appendLinks(s.links[:0], at.node, at.layer)
	b.save(at, s.links)
	s.links = append(s.links, to)
	if most := b.graph.capacity[min(at.layer, 1)]; len(s.links) > most {
		vector := b.vector(at.node)
		s.near = s.near[:0]
		for _, node := range s.links {
			s.near = append(s.near, neighbor{s.distance(vector, b.vector(node)), node})
		}
		slices.SortFunc(s.near, byDistance)
		s.links = s.choose(s.near, most)
	}
	b.graph.setLinks(at.node, at.layer, s.links)
}

func byDistance(a, b neighbor) int {
	if a.distance < b.distance {
		return -1
	}
	if a.distance > b.distance {
		return 1
	}
	return int(a.number()) - int(b.number())
}

// choose returns at most n of the neighbors, which are sorted by distance: those that are not nearer to one that was chosen
// before. So links go in all directions, and the graph does not fall apart where vectors lie in clusters.
func (s *searcher) choose(from []neighbor, n int) []uint32 {
	s.chosen, s.links = s.chosen[:0], s.links[:0]
	for _, candidate := range from {
		if len(s.chosen) == n {
			break
		}
		if s.apart(candidate) {
			s.chosen = append(s.chosen, candidate)
			s.links = append(s.links, candidate.number())
		}
	}
	return s.links
}

func (s *searcher) apart(candidate neighbor) bool {
	vector := s.vector(candidate.number())
	for _, c := range s.chosen {
		if s.distance(vector, s.vector(c.number())) < candidate.distance {
			return false
		}
	}
	return true
}

// save keeps the links of a node that was there before, if this is their first change.
func (b *builder) save(at place, links []uint32) {
	if int(at.node) >= b.before {
		return
	}
	b.undo.Lock()
	defer b.undo.Unlock()
	if _, known := b.saved[at]; !known {
		b.saved[at] = slices.Clone(links)
	}
}

// rollback takes the new nodes out again.
func (b *builder) rollback() {
	for at, links := range b.saved {
		b.graph.setLinks(at.node, at.layer, links)
	}
	b.graph.truncate(b.before)
	b.graph.entry, b.graph.top = b.old.entry, b.old.top
	b.vectors = b.vectors[:b.before*b.stride]
	b.ids = b.ids[:b.before]
}
