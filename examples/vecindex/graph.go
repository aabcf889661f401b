package vecindex

import (
	"math"
	"slices"
	"sync/atomic"
)

// A graph links each node with near ones, in layers: layer 0 has all nodes, and each layer above it one in m of those below.
//
// Links are words of an array: their number, and the nodes. While nodes are inserted, words are read and written atomically: a
// reader may see some links of before a change and some of after it, all of which are nodes.
type graph struct {
	m        int      // links of a node in a layer above 0; in layer 0 it has up to twice as many
	levels   []uint8  // each node's highest layer
	base     []uint32 // the links in layer 0
	upper    []uint32 // those in layers above
	upperAt  []int    // where a node's begin in upper
	top      uint8    // the highest layer
	entry    uint32   // a node in it, from which all searches start
	capacity [2]int   // the most links: in layer 0, and above
}

func newGraph(m int) graph { return graph{m: m, capacity: [2]int{2 * m, m}} }

func (g *graph) len() int { return len(g.levels) }

// words returns a node's links in a layer, with their number before them.
func (g *graph) words(node uint32, layer int) []uint32 {
	if layer == 0 {
		size := g.capacity[0] + 1
		return g.base[int(node)*size:][:size]
	}
	size := g.capacity[1] + 1
	return g.upper[g.upperAt[node]+(layer-1)*size:][:size]
}

// appendLinks appends the links of a node in a layer to a list.
func (g *graph) appendLinks(list []uint32, node uint32, layer int) []uint32 {
	words := g.words(node, layer)
	n := atomic.LoadUint32(&words[0])
	for i := range words[1:][:n] {
		list = append(list, atomic.LoadUint32(&words[1+i]))
	}
	return list
}

// setLinks replaces them.
func (g *graph) setLinks(node uint32, layer int, links []uint32) {
	words := g.words(node, layer)
	for i, to := range links {
		atomic.StoreUint32(&words[1+i], to)
	}
	atomic.StoreUint32(&words[0], uint32(len(links)))
}

// grow adds n nodes without links. Their layers depend on the seed and their numbers alone.
func (g *graph) grow(n int, seed uint64) {
	first := g.len()
	g.levels = slices.Grow(g.levels, n)
	g.upperAt = slices.Grow(g.upperAt, n)
	words := 0
	for node := first; node < first+n; node++ {
		level := levelOf(seed, node, g.m)
		g.levels = append(g.levels, level)
		g.upperAt = append(g.upperAt, len(g.upper)+words)
		words += int(level) * (g.capacity[1] + 1)
	}
	g.upper = append(g.upper, make([]uint32, words)...)
	g.base = append(g.base, make([]uint32, n*(g.capacity[0]+1))...)
}

// truncate removes all nodes from n on.
func (g *graph) truncate(n int) {
	if n < g.len() {
		g.upper = g.upper[:g.upperAt[n]]
	}
	g.levels, g.upperAt, g.base = g.levels[:n], g.upperAt[:n], g.base[:n*(g.capacity[0]+1)]
}

// mostLevel is beyond what chance gives: 1 node in 2^60 with m = 2.
const mostLevel = 60

// levelOf draws a node's highest layer: layer l+1 has one in m of the nodes in layer l.
func levelOf(seed uint64, node, m int) uint8 {
	uniform := (float64(mix(seed+uint64(node))>>11) + 1) / (1 << 53) // in (0, 1]
	return uint8(min(-math.Log(uniform)/math.Log(float64(m)), mostLevel))
}

// mix is splitmix64: numbers in a row give independent bits.
func mix(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
