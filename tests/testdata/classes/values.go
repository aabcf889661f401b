package classes

import (
	"iter"
	"strconv"
	"time"

	"godlpack/tensor"
)

// Level is an enum.
//
//godlpack:export
type Level int

const (
	LevelLow  Level = 1
	LevelHigh Level = 2
)

// Part is a record.
type Part struct {
	Level Level
	Since time.Time
	Notes map[string]any
}

//godlpack:export
func Parts(all map[string][]Part) (map[string][]Part, *Part) { return all, nil }

// Settings are options.
//
//godlpack:options
type Settings struct {
	Level   Level //godlpack:arg default=LOW
	Weights *tensor.Of[float32]
	Names   []string
}

// DefaultSettings has the names of nobody.
func DefaultSettings() Settings { return Settings{Names: []string{"nobody"}} }

//godlpack:export
func Set(s Settings, words ...string) (Level, []string) { return s.Level, append(words, s.Names...) }

//godlpack:export
func Sum(numbers []int64) (sum int64) {
	for _, n := range numbers {
		sum += n
	}
	return sum
}

// Memory returns the rows themselves.
//
//godlpack:export
//godlpack:result shared
func (ix *Index) Memory() (tensor.Mut[float32], error) {
	return tensor.FromSlice(ix.rows, int64(len(ix.rows)))
}

// Upto yields numbers and their texts.
//
//godlpack:export
//godlpack:prefetch 3
func Upto(n int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < n && yield(i, strconv.Itoa(i)); i++ {
		}
	}
}
