// Package options has functions with keyword-only and variadic parameters.
package options

import (
	"fmt"
	"strings"
	"time"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Mode is a mode.
//
//godlpack:export
type Mode string

const (
	ModeFast  Mode = "fast"
	ModeExact Mode = "exact"
)

// Options have defaults by directives and by a function.
//
//godlpack:options
type Options struct {
	Mode    Mode //godlpack:arg default=fast
	MaxIter int8 //godlpack:arg default=10
	Wait    time.Duration
	Weights *tensor.Of[float32] //godlpack:arg shape=[n]
	Name    string
	Tags    map[string]int
	Tell    *kernel.Callable
	Limit   *int
	hidden  int
}

// Links are options that are objects; nil by default.
//
//godlpack:options
type Links struct{ Next, Last *Index }

// DefaultLinks returns nil, so that the fields are zero.
func DefaultLinks() *Links { return nil }

//godlpack:export
func Linked(l *Links) (bool, bool) { return l.Next != nil, l.Last != nil }

// DefaultOptions are what is not said above.
func DefaultOptions() Options {
	limit := 7
	return Options{Wait: time.Second, Name: "me", Tags: map[string]int{"a": 1}, Limit: &limit, hidden: 5}
}

func (o Options) String() string {
	weights, limit := "nil", "nil"
	if o.Weights != nil {
		weights = fmt.Sprint(o.Weights.Len())
	}
	if o.Limit != nil {
		limit = fmt.Sprint(*o.Limit)
	}
	return fmt.Sprint(o.Mode, " ", o.MaxIter, " ", o.Wait, " ", weights, " ", o.Name, " ", o.Tags, " ", o.Tell != nil, " ", limit, " ", o.hidden)
}

//godlpack:export
func Run(x tensor.Of[float32], k int, o Options) string { return fmt.Sprint(k, " ", o) }

//godlpack:export
func RunPointer(c *kernel.Ctx, o *Options) string { return o.String() }

// Strict has no function for its defaults, so that a field without one must be given.
//
//godlpack:options
type Strict struct {
	A int
	B *int
	C []string //godlpack:arg default=[x,y]
}

//godlpack:export
func Both(s *Strict, o Options, more ...int) (string, []int) {
	b := "nil"
	if s.B != nil {
		b = fmt.Sprint(*s.B)
	}
	return fmt.Sprint(s.A, " ", b, " ", s.C, " ", o.Name), more
}

//godlpack:export
//godlpack:arg sep default=","
func Join(sep string, parts ...string) string { return strings.Join(parts, sep) }

//godlpack:export
//godlpack:arg xs overlap
func Lens(xs ...tensor.Of[float64]) []int {
	lens := []int{}
	for _, x := range xs {
		lens = append(lens, x.Len())
	}
	return lens
}

//godlpack:export
func Fill(v float64, ys ...tensor.Mut[float64]) {
	for _, y := range ys {
		for p := range y.Pointers() {
			*p = v
		}
	}
}

//godlpack:export
func Keys(maps ...map[string]int) (keys int) {
	for _, m := range maps {
		keys += len(m)
	}
	return keys
}

//godlpack:export
//godlpack:arg axis keyword default=-1
//godlpack:arg scale keyword
func Keyword(x tensor.Of[float64], axis int, scale float64) (tensor.Of[float64], float64) {
	return x, scale * float64(axis)
}

// Index is an object.
//
//godlpack:export
type Index struct{ options Options }

//godlpack:new
func NewIndex(dim int, o Options) *Index {
	o.MaxIter += int8(dim)
	return &Index{o}
}

//godlpack:export
func (ix *Index) Describe(prefix string, words ...string) string {
	return prefix + ix.options.Name + strings.Join(words, "")
}

//godlpack:export
func (ix *Index) Same(others ...*Index) (n int) {
	for _, other := range others {
		if other == ix {
			n++
		}
	}
	return n
}
