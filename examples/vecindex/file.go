package vecindex

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"slices"

	"godlpack/kernel"
)

// A file has a header, arrays, and a checksum of both; all numbers are little-endian.
type header struct {
	Magic          [8]byte
	Version        uint32
	Metric         [8]byte
	Dim, M         uint32
	EfConstruction uint32
	Seed, NextID   int64
	Nodes          uint64
	Entry, Top     uint32
}

const version = 1

var (
	magic      = [8]byte([]byte("vecindex"))
	headerSize = binary.Size(header{})
	table      = crc32.MakeTable(crc32.Castagnoli)
	order      = binary.LittleEndian
)

const checksumSize = 4

// Save writes the index to a file, which Index.load reads. A file that is there stays as it is until the new one is complete.
//
//godlpack:export
func (ix *Index) Save(ctx *kernel.Ctx, path string) error {
	if err := acquire(ctx, ix.mu.TryRLock, ix.mu.RLock, ix.mu.RUnlock); err != nil {
		return err
	}
	data := ix.encode()
	ix.mu.RUnlock()
	partial := path + "." + rand.Text()
	err := write(partial, data)
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		_ = os.Remove(partial)
		var where *fs.PathError
		if errors.As(err, &where) {
			where.Path = path
		}
	}
	return err
}

func write(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// Load reads an index from a file that save wrote.
//
// FormatError: the file is damaged, incomplete, or something else.
//
//godlpack:export Index.load
func Load(path string) (*Index, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ix := new(Index)
	if err := ix.UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ix, nil
}

// MarshalBinary is for pickle.
func (ix *Index) MarshalBinary() ([]byte, error) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.encode(), nil
}

func (ix *Index) encode() []byte {
	g := &ix.graph
	h := header{Magic: magic, Version: version, Dim: uint32(ix.Dim), M: uint32(ix.M), EfConstruction: uint32(ix.EfConstruction),
		Seed: ix.Seed, NextID: ix.nextID, Nodes: uint64(g.len()), Entry: g.entry, Top: uint32(g.top)}
	copy(h.Metric[:], ix.Metric)
	size := headerSize + g.len()*ix.bytesEach() + 4*len(g.upper) + checksumSize
	b := must(binary.Append(make([]byte, 0, size), order, h))
	b = append(b, g.levels...)
	b = must(binary.Append(b, order, ix.ids))
	b = must(binary.Append(b, order, g.base))
	b = must(binary.Append(b, order, g.upper))
	for node := range g.len() {
		b = must(binary.Append(b, order, ix.vector(uint32(node))[:ix.Dim]))
	}
	return order.AppendUint32(b, crc32.Checksum(b, table))
}

// must is for values of fixed size, which can always be encoded.
func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// bytesEach is what a node takes in a file, without its links in layers above 0.
func (ix *Index) bytesEach() int { return 1 + 8 + 4*(2*ix.M+1) + 4*ix.Dim }

// UnmarshalBinary is for pickle. It trusts nothing: sizes are compared with those of the data before memory is allocated, and
// links are checked before they are followed. After an error the index must not be used.
func (ix *Index) UnmarshalBinary(data []byte) error {
	h, err := readHeader(data)
	if err != nil {
		return err
	}
	made, err := NewIndex(int(h.Dim), string(bytes.TrimRight(h.Metric[:], "\x00")), int(h.M), int(h.EfConstruction), h.Seed)
	if err != nil {
		return badFormat("%v", err)
	}
	ix.Dim, ix.Metric, ix.M, ix.EfConstruction, ix.Seed = made.Dim, made.Metric, made.M, made.EfConstruction, made.Seed
	ix.metric, ix.stride, ix.known, ix.graph, ix.nextID = made.metric, made.stride, made.known, made.graph, h.NextID
	arrays := data[headerSize : len(data)-checksumSize]
	if h.Nodes > uint64(len(arrays)/ix.bytesEach()) {
		return badFormat("want %d vectors of %d elements, got %d bytes: the rest is missing", h.Nodes, h.Dim, len(data))
	}
	n := int(h.Nodes)
	words := 0
	for _, level := range arrays[:n] {
		words += int(level) * (ix.M + 1)
	}
	if want := n*ix.bytesEach() + 4*words; len(arrays) != want {
		return badFormat("want %d bytes, got %d", len(data)-len(arrays)+want, len(data))
	}
	if got, want := crc32.Checksum(data[:len(data)-checksumSize], table), order.Uint32(data[len(data)-checksumSize:]); got != want {
		return badFormat("its checksum is %08x instead of %08x: it is damaged", got, want)
	}
	ix.readArrays(arrays, n, words)
	ix.graph.entry, ix.graph.top = h.Entry, uint8(min(h.Top, math.MaxUint8))
	return ix.check()
}

func readHeader(data []byte) (h header, err error) {
	if len(data) < headerSize+checksumSize || !bytes.HasPrefix(data, magic[:]) {
		return h, badFormat("want %d bytes or more that begin with %q, got %d that begin with %q", headerSize+checksumSize, magic[:],
			len(data), data[:min(len(data), len(magic))])
	}
	if _, err := binary.Decode(data, order, &h); err != nil {
		return h, badFormat("%v", err)
	}
	if h.Version != version {
		return h, badFormat("it has version %d of the format: want %d", h.Version, version)
	}
	return h, nil
}

// readArrays reads the arrays of n nodes, with so many words of links above layer 0. Their size is that.
func (ix *Index) readArrays(data []byte, n, words int) {
	g := &ix.graph
	g.levels, data = slices.Clone(data[:n]), data[n:]
	g.upperAt = make([]int, n)
	for node := 1; node < n; node++ {
		g.upperAt[node] = g.upperAt[node-1] + int(g.levels[node-1])*(g.m+1)
	}
	ix.ids, data = read[int64](data, n)
	g.base, data = read[uint32](data, n*(2*g.m+1))
	g.upper, data = read[uint32](data, words)
	ix.vectors = make([]float32, n*ix.stride)
	for node := range n {
		var v []float32
		v, data = read[float32](data, ix.Dim)
		copy(ix.vector(uint32(node)), v)
	}
}

func read[T int64 | uint32 | float32](data []byte, n int) ([]T, []byte) {
	values := make([]T, n)
	size, err := binary.Decode(data, order, values)
	if err != nil {
		panic(err)
	}
	return values, data[size:]
}

// check refuses what no index has, so that no search leaves the arrays.
func (ix *Index) check() error {
	g := &ix.graph
	n := g.len()
	if n > 0 && (int(g.entry) >= n || g.levels[g.entry] != g.top) || n == 0 && (g.entry != 0 || g.top != 0) || n >= expanded {
		return badFormat("no search can start at node %d of %d, in layer %d", g.entry, n, g.top)
	}
	for node := range n {
		id := ix.ids[node]
		if _, twice := ix.known[id]; twice || id < 0 || id >= ix.nextID {
			return badFormat("vector %d has the id %d, which is another's or out of range", node, id)
		}
		ix.known[id] = struct{}{}
		if err := check(ix.vector(uint32(node)), node); err != nil {
			return badFormat("%v", err)
		}
		for layer := 0; layer <= int(g.levels[node]); layer++ {
			if err := g.check(uint32(node), layer); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses links of a node in a layer to nodes that are not there.
func (g *graph) check(node uint32, layer int) error {
	words := g.words(node, layer)
	if int(g.levels[node]) > mostLevel || int(words[0]) >= len(words) {
		return badFormat("node %d has %d links in layer %d", node, words[0], layer)
	}
	for _, to := range words[1:][:words[0]] {
		if int(to) >= g.len() || int(g.levels[to]) < layer {
			return badFormat("node %d links to node %d in layer %d, which is not there", node, to, layer)
		}
	}
	return nil
}
