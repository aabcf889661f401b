// Package values has a function for each kind of value that passes as a tree.
package values

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Metric is how a distance is measured.
//
//godlpack:export
type Metric string

const (
	MetricL2     Metric = "l2"
	MetricCosine Metric = "cosine"
)

// Level is how much is told.
//
//godlpack:export
type Level int

const (
	Quiet Level = iota - 1
	Normal
	VeryLoud
)

// Celsius is no enum: it is not exported.
type Celsius int

const Freezing Celsius = 0

type Inner struct {
	Z     complex128
	Pair  [2]int16
	Maybe *float32
}

type Options struct {
	Metric Metric
	Limit  int8
	Count  uint64
	Names  []string
	When   time.Time
	Wait   time.Duration
	Extra  map[string]any
	Inner  Inner
	Levels map[Level][]Inner
	Raw    []byte
	hidden int // not a field of the record
}

//godlpack:export
func EchoOptions(o Options) Options { return o }

//godlpack:export
func EchoMany(o []Options) []Options { return o }

//godlpack:export
func EchoPointer(o *Options) *Options { return o }

//godlpack:export
func EchoMap(m map[string]float64) map[string]float64 { return m }

//godlpack:export
func EchoInts(m map[int][]int32) map[int][]int32 { return m }

//godlpack:export
func EchoNested(x [][]float64) [][]float64 { return x }

//godlpack:export
func EchoArray(x [3]float64) [3]float64 { return x }

//godlpack:export
func EchoComplex(z complex128) complex128 { return z }

//godlpack:export
func EchoTime(t time.Time) time.Time { return t }

//godlpack:export
func EchoDuration(d time.Duration) time.Duration { return d }

//godlpack:export
func EchoBig(x *big.Int) *big.Int { return x }

//godlpack:export
func EchoAny(x any) any { return x }

//godlpack:export
func EchoMetric(m Metric) Metric { return m }

//godlpack:export
func EchoLevel(l Level) Level { return l }

//godlpack:export
func EchoCelsius(c Celsius) Celsius { return c }

// Next returns a level that may have no name.
//
//godlpack:export
func Next(l Level) Level { return l + 1 }

// Two has results of several kinds.
//
//godlpack:export
func Two(x tensor.Of[float32], m map[string]int) (tensor.Of[float32], map[string]int, int, error) {
	return x, m, len(m), nil
}

//godlpack:export
func Counts(words []string) map[string]int {
	counts := map[string]int{}
	for _, w := range words {
		counts[w]++
	}
	return counts
}

//godlpack:export
func Typed() any {
	return map[string]any{
		"ints": []int{1, 2}, "map": map[string]float32{"a": 1.5}, "metric": MetricL2, "uint8": uint8(3), "bytes": []byte("b"),
		"nan": math.NaN(), "nil": nil,
	}
}

//godlpack:export
func Bad(what string) (any, error) {
	switch what {
	case "channel":
		return make(chan int), nil
	case "itself":
		m := map[string]any{}
		m["me"] = m
		return m, nil
	case "keys":
		return map[float64]int{1: 1}, nil
	}
	return nil, errors.New("asked for")
}

//godlpack:export
func Describe(t time.Time, d time.Duration) string {
	return fmt.Sprint(t.Format(time.RFC3339Nano), " ", d)
}

//godlpack:export
//godlpack:arg metric default=cosine
//godlpack:arg level default=-1
//godlpack:arg wait default=1.5s
//godlpack:arg o default=None
func Defaults(metric Metric, level Level, wait time.Duration, o *Options) string {
	return fmt.Sprintf("%v %v %v %v", metric, level, wait, o == nil)
}

// Store is an object with values as attributes.
//
//godlpack:export
type Store struct {
	Tags   map[string]int //godlpack:export
	Inner  *Inner         //godlpack:export
	Since  time.Time      //godlpack:export readonly
	metric Metric
}

//godlpack:new
func NewStore(since time.Time, tags map[string]int) *Store { return &Store{Tags: tags, Since: since} }

//godlpack:get
func (s *Store) Metric() Metric { return s.metric }

//godlpack:set
func (s *Store) SetMetric(m Metric) { s.metric = m }

//godlpack:export
func (s *Store) Merged(other map[string]int, stores []*Store) (map[string]int, error) {
	all := map[string]int{}
	for k, v := range other {
		all[k] = v
	}
	for _, s := range stores {
		for k, v := range s.Tags {
			all[k] += v
		}
	}
	return all, nil
}

// Perm has values that are unions of its members.
//
//godlpack:export
type Perm uint8

const (
	PermRead Perm = 1 << iota
	PermWrite
	PermAll = PermRead | PermWrite
)

// Big has members that no float64 holds, and one that no int64 holds.
//
//godlpack:export
type Big uint64

const (
	BigMid  Big = 1<<62 + 1
	BigHuge Big = 1<<63 + 5
	Big1    Big = 3
)

type MyByte uint8

// Row has fields named as attributes that other objects have.
type Row struct {
	Name  string
	Count int
	Index int
}

type Pair[T any] struct{ A, B T }

//godlpack:export
func EchoPerm(p Perm) Perm { return p }

//godlpack:export
//godlpack:arg b default=HUGE keyword
func EchoBigs(all map[Big]Big, b Big) (Big, map[Big]Big) { return b, all }

//godlpack:export
func EchoLevels(l []Level) []Level { return l }

//godlpack:export
func EchoLevelPointer(l *Level) *Level { return l }

//godlpack:export
func EchoMyBytes(m map[string][]MyByte) map[string][]MyByte { return m }

//godlpack:export
func EchoHash(h [4]byte) [4]byte { return h }

//godlpack:export
func EchoRow(r Row) Row { return r }

//godlpack:export
func EchoPairs(a Pair[int], b Pair[string]) (Pair[int], Pair[string]) { return a, b }

//godlpack:export
func EchoFloat32s(m map[string]float32) map[string]float32 { return m }

//godlpack:export
func EchoComplex64s(z []complex64) []complex64 { return z }

//godlpack:export
func EchoTimes(t []time.Time) []time.Time { return t }

//godlpack:export
func EchoDurations(d []time.Duration) []time.Duration { return d }

//godlpack:export
func EchoNumbers(i []int8, u []uint64, f []float32, d []float64, b []bool) ([]int8, []uint64, []float32, []float64, []bool) {
	return i, u, f, d, b
}

//godlpack:export
func Shared(n int) any {
	var x any
	for range n {
		x = []any{x, x}
	}
	return x
}

//godlpack:export
func Raw() any {
	return map[string]any{"raw": json.RawMessage("{}"), "pointer": &[]int{1}, "none": (*int)(nil)}
}

//godlpack:export
func Text(what string) (map[string]string, error) { return map[string]string{"a": what + "\xff"}, nil }

//godlpack:export
func Year(n int) []time.Time { return []time.Time{time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC)} }

//godlpack:export
func Ragged(ctx *kernel.Ctx, rows [][]float32) (values tensor.Of[float32], offsets tensor.Of[int64]) {
	v, o := kernel.Ragged(ctx, rows)
	return v.Of, o.Of
}
