package state

import (
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"example.org/state/store"
)

var (
	limit     = 3
	text      = "text"
	errWrong  = errors.New("wrong")
	pattern   = regexp.MustCompile("a+")
	replacer  = strings.NewReplacer("a", "b")
	keywords  = []string{"a", "b"}
	table     [256]int
	ranks     = map[string]int{"a": 1}
	nested    = map[string][]int{"a": {1}}
	pool      = sync.Pool{New: func() any { return new(index) }}
	lock      sync.Mutex
	once      sync.Once
	lazy      []int
	lazier    []int
	later     = sync.OnceValue(func() []int { return []int{1} })
	laterTwo  = sync.OnceValues(func() (map[string]int, error) { return map[string]int{"a": 1}, nil })
	laterInt  = sync.OnceValue(func() int { return 1 })
	laterPass = sync.OnceValue(func() *index { return &index{} })
	laterRun  = sync.OnceFunc(func() { lazy = []int{limit} })
	twice     = func(n int) int { return 2 * n }
	handlers  = map[string]func(int) int{"twice": twice}
	point     = struct{ x, y int }{1, 2}
	shared    = &index{names: []string{"a"}}
	byMethod  = index{names: []string{"a"}}
	converted = kind(text)
	begun     = start()
	_         = fmt.Sprint(limit)
	//go:embed same.go
	files embed.FS
)

type kind string

var set struct{ ready bool }

func init() {
	for i := range table {
		table[i] = i
	}
	set.ready = true
	prepare(ranks)
	later()
}

func start() int { limit = 4; return limit }

func prepare(m map[string]int) { m["b"] = 2 }

func load() { lazier = []int{1} }

func sum(x []int) (n int) {
	for _, v := range x {
		n += v
	}
	x = nil
	return n + len(x)
}

func find(x *index, name string) int { return slices.Index(x.names, name) }

func sortInPlace(x []int) { slices.Sort(x) }

//godlpack:export
func Read(n int, name string) (int, error) {
	lock.Lock()
	defer lock.Unlock()
	once.Do(func() { lazy = []int{limit} })
	once.Do(load)
	x := pool.Get().(*index)
	pool.Put(x)
	if !pattern.MatchString(replacer.Replace(name)) || !slices.Contains(keywords, name) || !set.ready {
		return 0, errWrong
	}
	part := table[1:3]
	rank, ok := ranks[name]
	for _, row := range nested[name] {
		n += row
	}
	copied := point
	copied.x = 3
	local := keywords
	local = nil
	data, err := files.ReadFile("same.go")
	n += sum(table[:]) + sum(part) + rank + sum(nested[name]) + lazy[0] + len(lazier) + later()[0] + handlers[name](twice(n)) +
		copied.x + find(shared, name) + len(local) + len(data) + len(converted) + begun + store.Limit
	_ = ok
	known, err := laterTwo()
	for range laterInt() {
		laterRun()
	}
	for _, v := range later() {
		n += v + known["a"] + sum(later()) + find(laterPass(), name) + len(laterPass().names)
	}
	return n + len(byMethod.first()) + len(shared.first()), err
}
