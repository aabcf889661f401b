// Package classes has a type for each feature of classes.
package classes

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Index holds vectors.
//
//godlpack:export
type Index struct {
	// Dim is the number of elements of each vector.
	//godlpack:export readonly
	Dim int
	//godlpack:export
	Label string
	Key   []byte   //godlpack:export
	Tags  []string //godlpack:export names
	Scale float32  //godlpack:export
	Other *Index   //godlpack:export
	Ids   []int64  //godlpack:export
	On    bool     //godlpack:export
	Width uint8    //godlpack:export

	rows []float32
	next *Index
}

// NewIndex makes an index of vectors of dim elements.
//
//godlpack:new
//godlpack:arg label default=""
func NewIndex(dim int, label string) (*Index, error) {
	if dim <= 0 {
		return nil, kernel.Errorf(kernel.ValueError, "dim: want at least 1, got %d", dim)
	}
	if dim == 1000 {
		return nil, nil
	}
	return &Index{Dim: dim, Label: label}, nil
}

// Add adds rows.
//
//godlpack:export
//godlpack:arg rows shape=[n,d] order=C
//godlpack:arg times default=1
func (ix *Index) Add(rows tensor.Of[float32], times int) error {
	if int(rows.Shape()[1]) != ix.Dim {
		return errors.New("another number of elements")
	}
	for range times {
		ix.rows = append(ix.rows, rows.Slice()...)
	}
	return nil
}

// Rows returns all rows.
//
//godlpack:export
//godlpack:result shape=[*,*]
func (ix *Index) Rows(ctx *kernel.Ctx) tensor.Mut[float32] {
	out := kernel.Empty[float32](ctx, int64(ix.Len()), int64(ix.Dim))
	copy(out.Slice(), ix.rows)
	return out
}

// Itself returns the same object.
//
//godlpack:export
func (ix *Index) Itself() *Index { return ix }

// Call calls f with the object, and a list of it and nil, and reports whether f returned the object.
//
//godlpack:export
func (ix *Index) Call(f kernel.Callable) (bool, error) {
	result, err := f.Call(ix, []any{ix, (*Index)(nil)}, ix.Dim)
	return result == any(ix), err
}

var watched *Index

// Watch keeps an index in Go.
//
//godlpack:export
func Watch(ix *Index) { watched = ix }

// Watched returns it.
//
//godlpack:export
func Watched() *Index { return watched }

// Panic panics.
//
//godlpack:export
func (ix *Index) Panic() { panic("on purpose") }

// GetNext returns the next index, or nil.
//
//godlpack:get
func (ix *Index) GetNext() *Index { return ix.next }

// SetNext sets the next index.
//
//godlpack:set
func (ix *Index) SetNext(next *Index) error {
	if next == ix {
		return kernel.Errorf(kernel.ValueError, "an index is not its own next")
	}
	ix.next = next
	return nil
}

// At returns element i of all rows.
//
//godlpack:export __getitem__
func (ix *Index) At(i int) (float64, error) {
	if i < 0 || i >= len(ix.rows) {
		return 0, kernel.Errorf(kernel.IndexError, "want an index below %d, got %d", len(ix.rows), i)
	}
	return float64(ix.rows[i]), nil
}

// Put sets element i of all rows.
//
//godlpack:export __setitem__
func (ix *Index) Put(i int, v float32) { ix.rows[i] = v }

// Has reports whether an element is v.
//
//godlpack:export __contains__
func (ix *Index) Has(v float32) bool {
	for _, x := range ix.rows {
		if x == v {
			return true
		}
	}
	return false
}

// Len is the number of rows.
func (ix *Index) Len() int                 { return len(ix.rows) / ix.Dim }
func (ix *Index) String() string           { return fmt.Sprintf("Index(%d, %q)", ix.Dim, ix.Label) }
func (ix *Index) Equal(other *Index) bool  { return ix.Dim == other.Dim && ix.Label == other.Label }
func (ix *Index) Compare(other *Index) int { return cmp.Compare(ix.Dim, other.Dim) }
func (ix *Index) Hash() uint64             { return uint64(ix.Dim) << 60 }

// Close drops the rows; a second time it fails.
func (ix *Index) Close() error {
	if ix.rows == nil {
		return errors.New("closed already")
	}
	ix.rows = nil
	return nil
}

func (ix *Index) MarshalBinary() ([]byte, error) {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(ix.Dim)), ix.Label...), nil
}

func (ix *Index) UnmarshalBinary(b []byte) error {
	if len(b) < 8 {
		return errors.New("want 8 bytes")
	}
	ix.Dim, ix.Label = int(binary.LittleEndian.Uint64(b)), string(b[8:])
	return nil
}

// Parse makes an index from text.
//
//godlpack:export Index.parse
func Parse(text string) (*Index, error) {
	ix := &Index{}
	if _, err := fmt.Sscanf(text, "%d", &ix.Dim); err != nil {
		return nil, err
	}
	return ix, nil
}

// Many makes n indexes; of a negative number, one that is nil.
//
//godlpack:export
func Many(n int) []*Index {
	if n < 0 {
		return []*Index{{Dim: 1}, nil}
	}
	all := make([]*Index, n)
	for i := range all {
		all[i] = &Index{Dim: i + 1}
	}
	return all
}

// Dims returns the numbers of elements of indexes.
//
//godlpack:export
func Dims(all []*Index) []int {
	dims := []int{}
	for _, ix := range all {
		dims = append(dims, ix.Dim)
	}
	return dims
}

// Two returns an index and its number of elements, and fails for 0 after it has made both.
//
//godlpack:export
func Two(ix *Index) (*Index, int) { return ix, ix.Dim }

// DimOr returns the number of elements, or -1 of nil.
//
//godlpack:export
//godlpack:arg ix default=None
func DimOr(ix *Index) int {
	if ix == nil {
		return -1
	}
	return ix.Dim
}

// None returns nil.
//
//godlpack:export
func None() *Index { return nil }

// Shape has an area.
type Shape interface{ Area() float64 }

// Square is a shape without a constructor.
//
//godlpack:export
type Square struct{ Side float64 }

// Area is the side by itself.
//
//godlpack:export
func (s *Square) Area() float64 { return s.Side * s.Side }

type named struct{ name string }

// Hello greets: a method of an embedded struct.
//
//godlpack:export
func (n named) Hello() string { return "hello " + n.name }

// Circle is a shape with an embedded struct. Its first field is an object of its own.
//
//godlpack:export
type Circle struct {
	Inner
	named
	r float64
}

// Inner has the address of its Circle.
//
//godlpack:export
type Inner struct {
	N int //godlpack:export
}

// Center returns the first field.
//
//godlpack:export
func (c *Circle) Center() *Inner { return &c.Inner }

// Area is three times the radius by itself.
//
//godlpack:export
func (c *Circle) Area() float64 { return 3 * c.r * c.r }

// NewCircle makes a circle.
//
//godlpack:new
func NewCircle(r float64) *Circle { return &Circle{named: named{"circle"}, r: r} }

// MakeSquare makes a square.
//
//godlpack:export
func MakeSquare(side float64) *Square { return &Square{side} }

// MakeShape makes one or the other.
//
//godlpack:export
func MakeShape(round bool, x float64) Shape {
	if round {
		return NewCircle(x)
	}
	return &Square{x}
}

// Hidden is a shape that is not exported.
type Hidden struct{}

func (Hidden) Area() float64 { return 0 }

// MakeHidden returns what Python does not have.
//
//godlpack:export
func MakeHidden() Shape { return Hidden{} }

// Total adds areas.
//
//godlpack:export
func Total(shapes []Shape) float64 {
	total := 0.0
	for _, s := range shapes {
		total += s.Area()
	}
	return total
}

// AreaOf returns one area.
//
//godlpack:export
func AreaOf(s Shape) float64 { return s.Area() }

// Guest counts how many of its kind are alive in Go.
//
//godlpack:export
type Guest struct{ memory [64]byte }

var guests struct {
	sync.Mutex
	n int
}

// NewGuest makes a guest.
//
//godlpack:new
func NewGuest() *Guest {
	g := &Guest{}
	guests.Lock()
	guests.n++
	guests.Unlock()
	runtime.AddCleanup(g, func(int) {
		guests.Lock()
		guests.n--
		guests.Unlock()
	}, 0)
	return g
}

var kept *Guest

// Keep keeps a guest in Go.
//
//godlpack:export
func Keep(g *Guest) { kept = g }

// Kept returns it.
//
//godlpack:export
func Kept() *Guest { return kept }

// Guests returns how many are alive, after a collection.
//
//godlpack:export
func Guests() int {
	runtime.GC()
	runtime.GC()
	guests.Lock()
	defer guests.Unlock()
	return guests.n
}

// Only is a type with one object.
//
//godlpack:export
type Only struct{ n int }

var only = &Only{1}

// NewOnly returns it.
//
//godlpack:new
func NewOnly() *Only { return only }

// TheOnly returns it, too.
//
//godlpack:export
func TheOnly() *Only { return only }

// Held returns the number of objects that Python has.
//
//godlpack:export
func Held() int { return kernel.Held() }

// Nothing is a type of no size: all its objects have the same address.
//
//godlpack:export
type Nothing struct{}

// NewNothing makes nothing.
//
//godlpack:new
func NewNothing() *Nothing { return &Nothing{} }

// LostError reports something that is lost.
//
//godlpack:export base=KeyError
type LostError struct{ Where []string }

func (e *LostError) Error() string { return "lost" }
func (e *LostError) Unwrap() error { return io.EOF }

// Lose returns an exported error with a cause, or one of a file.
//
//godlpack:export
func Lose(path string) error {
	if path != "" {
		_, err := os.Open(path)
		return fmt.Errorf("losing: %w", err)
	}
	return &LostError{Where: []string{"here", "there"}}
}
