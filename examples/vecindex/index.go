package vecindex

import (
	"fmt"
	"math"
	"sync"
	"time"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Index finds the nearest of its vectors approximately.
//
// Several threads may use an index at a time: searches go on together, and add waits for them, as they wait for it.
//
//godlpack:export
type Index struct {
	Dim            int    //godlpack:export readonly
	Metric         string //godlpack:export readonly
	M              int    //godlpack:export readonly
	EfConstruction int    //godlpack:export ef_construction readonly
	Seed           int64  //godlpack:export readonly

	metric
	stride    int          // Dim, filled up to a multiple of lanes
	mu        sync.RWMutex // held for writing while vectors are added
	vectors   []float32    // stride elements each
	ids       []int64
	known     map[int64]struct{} // the ids
	nextID    int64              // above all ids
	graph     graph
	entering  sync.RWMutex // of graph.entry and graph.top, while vectors are added
	searchers sync.Pool
}

const (
	mostDim = 1 << 16
	mostM   = 1 << 10
	mostEf  = 1 << 20
)

// NewIndex makes an empty index of vectors with dim elements.
//
// The metric is "l2", the square of the Euclidean distance; "ip", 1 less the inner product; or "cosine", 1 less the cosine of the
// angle, for which a vector of zeros has the distance 1 to all. Each vector has up to m links to others, and twice as many in
// the lowest layer; ef_construction candidates are considered for them. More of both give better results, for more time. With
// the same seed and one thread (godlpack.set_num_threads), the same calls of add build the same index.
//
//godlpack:new
//godlpack:arg metric default=l2
//godlpack:arg m default=16
//godlpack:arg efConstruction default=200
//godlpack:arg seed default=0
func NewIndex(dim int, metric string, m, efConstruction int, seed int64) (*Index, error) {
	chosen, known := metrics[metric]
	switch {
	case !known:
		return nil, kernel.Errorf(kernel.ValueError, `Index(): metric: want "l2", "ip" or "cosine", got %q`, metric)
	case dim < 1 || dim > mostDim:
		return nil, kernel.Errorf(kernel.ValueError, "Index(): dim: want 1 to %d, got %d", mostDim, dim)
	case m < 2 || m > mostM:
		return nil, kernel.Errorf(kernel.ValueError, "Index(): m: want 2 to %d, got %d", mostM, m)
	case efConstruction < 1 || efConstruction > mostEf:
		return nil, kernel.Errorf(kernel.ValueError, "Index(): ef_construction: want 1 to %d, got %d", mostEf, efConstruction)
	}
	return &Index{Dim: dim, Metric: metric, M: m, EfConstruction: efConstruction, Seed: seed,
		metric: chosen, stride: (dim + lanes - 1) / lanes * lanes, known: map[int64]struct{}{}, graph: newGraph(m)}, nil
}

// Add adds vectors, one a row, with an id each: by default, the numbers from the highest id so far on. It happens in
// godlpack.get_num_threads() threads. After an exception, KeyboardInterrupt too, the index has what it had before.
//
// DimensionError: the rows have another length. DuplicateIDError: an id is there already. ElementError: one that is NaN, or beyond 1e16.
// ValueError: a negative id, or not one id for each row.
//
//godlpack:export
//godlpack:arg vectors shape=[n,d] order=C convert
//godlpack:arg ids shape=[*] default=None
func (ix *Index) Add(ctx *kernel.Ctx, vectors tensor.Of[float32], ids *tensor.Of[int64]) error {
	n := vectors.Rows()
	if err := ix.checkDim(vectors); err != nil {
		return err
	}
	if err := acquire(ctx, ix.mu.TryLock, ix.mu.Lock, ix.mu.Unlock); err != nil {
		return err
	}
	defer ix.mu.Unlock()
	before := ix.graph.len()
	if n > expanded-1-before {
		return kernel.Errorf(kernel.ValueError, "add(): want at most %d vectors in all, got %d more than the %d there are", expanded-1, n, before)
	}
	numbers, err := ix.newIDs(n, ids)
	if err != nil {
		return err
	}
	b := ix.builder(before)
	done := false
	defer func() { // also if Parallel ends the call
		if !done {
			b.rollback()
		}
	}()
	if err := ix.store(vectors, numbers); err != nil {
		return err
	}
	b.build(ctx)
	for _, id := range numbers {
		ix.known[id] = struct{}{}
		ix.nextID = max(ix.nextID, id+1)
	}
	done = true
	return nil
}

// build inserts all new nodes.
func (b *builder) build(ctx *kernel.Ctx) {
	first := b.before
	if first == 0 && b.graph.len() > 0 { // the first of all needs no links
		b.graph.entry, b.graph.top = 0, b.graph.levels[0]
		first = 1
	}
	kernel.Parallel(ctx, b.graph.len()-first, func(lo, hi int) {
		s := b.searcher()
		defer b.searchers.Put(s)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			b.insert(s, uint32(first+i))
		}
	})
}

// newIDs returns the ids of n new vectors, after a check.
func (ix *Index) newIDs(n int, given *tensor.Of[int64]) ([]int64, error) {
	ids := make([]int64, 0, n)
	if given == nil {
		if ix.nextID > math.MaxInt64-int64(n) {
			return nil, kernel.Errorf(kernel.ValueError, "add(): want ids, since there are no numbers above the highest id, %d", ix.nextID-1)
		}
		for i := range n {
			ids = append(ids, ix.nextID+int64(i))
		}
		return ids, nil
	}
	if given.Len() != n {
		return nil, kernel.Errorf(kernel.ValueError, "add(): ids: want one for each of %d vectors, got %d", n, given.Len())
	}
	new := make(map[int64]bool, n)
	for _, id := range given.All() {
		if id < 0 || id == math.MaxInt64 {
			return nil, kernel.Errorf(kernel.ValueError, "add(): ids: want 0 to %d, got %d", int64(math.MaxInt64-1), id)
		}
		if _, there := ix.known[id]; there || new[id] {
			return nil, &DuplicateIDError{id}
		}
		new[id] = true
		ids = append(ids, id)
	}
	return ids, nil
}

// store appends vectors, as the metric wants them, their ids, and nodes without links.
func (ix *Index) store(vectors tensor.Of[float32], ids []int64) error {
	n, from := len(ids), vectors.Slice()
	at := len(ix.vectors)
	ix.vectors = append(ix.vectors, make([]float32, n*ix.stride)...)
	ix.ids = append(ix.ids, ids...)
	ix.graph.grow(n, uint64(ix.Seed))
	for i := range n {
		to := ix.vectors[at+i*ix.stride:][:ix.stride]
		if err := ix.prepare(to, from[i*ix.Dim:][:ix.Dim], i); err != nil {
			return err
		}
	}
	return nil
}

// Search returns the ids of the k vectors nearest to each query, and their distances, nearest first: two arrays of shape (q, k).
// Where fewer than k are found, as in an index of fewer, the ids are -1 and the distances infinite. It keeps the ef nearest on
// its way (at least k): more give better results, for more time.
//
// DimensionError: the rows have another length. ElementError: one that is NaN, or beyond 1e16.
//
//godlpack:export
//godlpack:arg queries shape=[q,d] order=C convert
//godlpack:arg k default=10
//godlpack:arg ef default=64
func (ix *Index) Search(ctx *kernel.Ctx, queries tensor.Of[float32], k, ef int) (ids tensor.Mut[int64], distances tensor.Mut[float32], err error) {
	if err = ix.checkDim(queries); err != nil {
		return
	}
	if min(k, ef) < 1 || max(k, ef) > mostEf {
		err = kernel.Errorf(kernel.ValueError, "search(): want k and ef from 1 to %d, got %d and %d", mostEf, k, ef)
		return
	}
	q := queries.Rows()
	ids, distances = kernel.Empty[int64](ctx, int64(q), int64(k)), kernel.Empty[float32](ctx, int64(q), int64(k))
	if err = acquire(ctx, ix.mu.TryRLock, ix.mu.RLock, ix.mu.RUnlock); err != nil {
		return
	}
	defer ix.mu.RUnlock()
	var failed failure
	kernel.Parallel(ctx, q, func(lo, hi int) {
		s := ix.searcher()
		defer ix.searchers.Put(s)
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			if err := ix.prepare(s.query, queries.Slice()[i*ix.Dim:][:ix.Dim], i); err != nil {
				failed.keep(i, err)
				return
			}
			s.nearest(min(max(k, ef), ix.graph.len()), ids.Slice()[i*k:][:k], distances.Slice()[i*k:][:k])
		}
	})
	return ids, distances, failed.err
}

// Contains reports whether a vector has an id.
//
//godlpack:export __contains__
func (ix *Index) Contains(ctx *kernel.Ctx, id int64) (bool, error) {
	if err := acquire(ctx, ix.mu.TryRLock, ix.mu.RLock, ix.mu.RUnlock); err != nil {
		return false, err
	}
	defer ix.mu.RUnlock()
	_, there := ix.known[id]
	return there, nil
}

// Len returns the number of vectors.
func (ix *Index) Len() int {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return ix.graph.len()
}

func (ix *Index) String() string {
	return fmt.Sprintf("<Index: %d vectors, dim=%d, metric=%q, m=%d>", ix.Len(), ix.Dim, ix.Metric, ix.M)
}

func (ix *Index) vector(node uint32) []float32 { return ix.vectors[int(node)*ix.stride:][:ix.stride] }

// prepare writes a vector, one of several, as the index stores it.
func (ix *Index) prepare(to, from []float32, row int) error {
	clear(to[copy(to, from):])
	if err := check(to, row); err != nil { // of the copy: another thread may change the caller's
		return err
	}
	if ix.normalize {
		toUnit(to)
	}
	return nil
}

func (ix *Index) checkDim(vectors tensor.Of[float32]) error {
	if got := int(vectors.Shape()[1]); got != ix.Dim {
		return &DimensionError{Want: ix.Dim, Got: got}
	}
	return nil
}

// acquire waits for a lock as long as the caller does.
func acquire(ctx *kernel.Ctx, try func() bool, lock, unlock func()) error {
	if try() {
		return nil
	}
	locked := make(chan struct{})
	go func() {
		lock()
		close(locked)
	}()
	ask := time.NewTicker(10 * time.Millisecond)
	defer ask.Stop()
	for {
		select {
		case <-locked:
			return nil
		case <-ask.C:
			if err := ctx.Err(); err != nil {
				go func() {
					<-locked
					unlock()
				}()
				return err
			}
		}
	}
}

// A failure is the error of the first row among those that failed, in any order of the goroutines.
type failure struct {
	mu  sync.Mutex
	row int
	err error
}

func (f *failure) keep(row int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || row < f.row {
		f.row, f.err = row, err
	}
}
