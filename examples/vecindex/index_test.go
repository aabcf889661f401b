package vecindex

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"godlpack/tensor"
)

func ExampleIndex_Search() {
	ix, err := NewIndex(2, "l2", 16, 200, 0)
	if err != nil {
		panic(err)
	}
	if err := ix.Add(nil, rows(2, 0, 0, 3, 4, 10, 0), nil); err != nil {
		panic(err)
	}
	ids, distances, err := ix.Search(nil, rows(2, 3, 3), 2, 64)
	fmt.Println(ids.Slice(), distances.Slice(), err)
	// Output: [1 0] [1 18] <nil>
}

// rows returns a tensor of vectors with dim of the elements each.
func rows(dim int, elements ...float32) tensor.Of[float32] {
	view, err := tensor.FromSlice(elements, int64(len(elements)/dim), int64(dim))
	if err != nil {
		panic(err)
	}
	return view.Of
}

func random(n, dim int, seed uint64) tensor.Of[float32] {
	r := rand.New(rand.NewPCG(seed, 0))
	elements := make([]float32, n*dim)
	for i := range elements {
		elements[i] = float32(r.NormFloat64())
	}
	return rows(dim, elements...)
}

func filled(t testing.TB, metric string, vectors tensor.Of[float32]) *Index {
	t.Helper()
	ix, err := NewIndex(int(vectors.Shape()[1]), metric, 8, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Add(nil, vectors, nil); err != nil {
		t.Fatal(err)
	}
	return ix
}

func TestDistances(t *testing.T) {
	for dim := 1; dim < 40; dim++ {
		ix, _ := NewIndex(dim, "l2", 2, 1, 0)
		a, b := make([]float32, ix.stride), make([]float32, ix.stride)
		v := random(2, dim, uint64(dim)).Slice()
		copy(a, v[:dim])
		copy(b, v[dim:])
		var l2, dot float64
		for i := range a {
			l2 += (float64(a[i]) - float64(b[i])) * (float64(a[i]) - float64(b[i]))
			dot += float64(a[i]) * float64(b[i])
		}
		if got := float64(squared(a, b)); math.Abs(got-l2) > 1e-5*l2 {
			t.Errorf("%d elements: got %v, want %v", dim, got, l2)
		}
		if got := float64(fromDot(a, b)); math.Abs(got-(1-dot)) > 1e-4 {
			t.Errorf("%d elements: got %v, want %v", dim, got, 1-dot)
		}
	}
}

func TestNoDistanceOverflows(t *testing.T) {
	largest := slices.Repeat([]float32{mostElement}, mostDim)
	smallest := slices.Repeat([]float32{-mostElement}, mostDim)
	for _, got := range []float32{squared(largest, smallest), fromDot(largest, smallest)} {
		if math.IsInf(float64(got), 0) || got != got {
			t.Errorf("got %v", got)
		}
	}
}

func TestLayersHaveOneInM(t *testing.T) {
	for _, m := range []int{2, 16, 100} {
		above := 0
		const n = 200_000
		for node := range n {
			if levelOf(7, node, m) > 0 {
				above++
			}
		}
		if want := float64(n) / float64(m); math.Abs(float64(above)-want) > 5*math.Sqrt(want) {
			t.Errorf("m = %d: %d of %d nodes are above layer 0, want about %.0f", m, above, n, want)
		}
	}
}

func TestARollbackLeavesNothing(t *testing.T) {
	ix := filled(t, "l2", random(500, 6, 1))
	before := links(&ix.graph)
	b := ix.builder(ix.Len())
	ids, err := ix.newIDs(400, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.store(random(400, 6, 2), ids); err != nil {
		t.Fatal(err)
	}
	b.build(nil)
	if slices.EqualFunc(links(&ix.graph), before, slices.Equal) || len(b.saved) == 0 {
		t.Fatal("nothing was inserted")
	}
	b.rollback()
	if !slices.EqualFunc(links(&ix.graph), before, slices.Equal) || len(ix.vectors) != 500*ix.stride || len(ix.ids) != 500 {
		t.Error("the graph has changed")
	}
	if err := ix.Add(nil, random(400, 6, 2), nil); err != nil || ix.Len() != 900 {
		t.Error(ix.Len(), err)
	}
}

// links lists where a search starts, and the links of all nodes, layer by layer.
func links(g *graph) [][]uint32 {
	all := [][]uint32{{g.entry, uint32(g.top)}}
	for node := range g.len() {
		for layer := range int(g.levels[node]) + 1 {
			all = append(all, g.appendLinks(nil, uint32(node), layer))
		}
	}
	return all
}

func TestAFailedAddLeavesNothing(t *testing.T) {
	for _, n := range []int{0, 300} {
		ix := filled(t, "cosine", random(n, 3, 1))
		before := ix.encode()
		var element *ElementError
		if err := ix.Add(nil, rows(3, 1, 2, 3, 4, 5, float32(math.NaN())), nil); !errors.As(err, &element) || element.Row != 1 || element.Column != 2 {
			t.Error(err)
		}
		if !bytes.Equal(ix.encode(), before) {
			t.Errorf("%d vectors: the index has changed", n)
		}
	}
}

func TestOneThreadAndSeedBuildTheSame(t *testing.T) {
	one, other := filled(t, "l2", random(1, 4, 3)), filled(t, "l2", random(1, 4, 3))
	for _, ix := range []*Index{one, other} {
		b := ix.builder(1)
		ids, _ := ix.newIDs(300, nil)
		if err := ix.store(random(300, 4, 4), ids); err != nil {
			t.Fatal(err)
		}
		s := ix.searcher()
		for node := 1; node <= 300; node++ {
			b.insert(s, uint32(node))
		}
	}
	if !bytes.Equal(one.encode(), other.encode()) {
		t.Error("two indexes differ")
	}
}

func TestAFileIsTheIndex(t *testing.T) {
	for _, n := range []int{0, 1, 2, 700} {
		ix := filled(t, "ip", random(n, 5, 1))
		data, err := ix.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		read := new(Index)
		if err := read.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		again, _ := read.MarshalBinary()
		if !bytes.Equal(data, again) || cap(data) != len(data) {
			t.Errorf("%d vectors: %d bytes, and %d from what was read; room for %d", n, len(data), len(again), cap(data))
		}
	}
}
