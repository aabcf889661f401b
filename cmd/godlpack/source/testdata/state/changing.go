// Package state has a variable of each kind. Those whose names begin with "s" are state, the others are not.
package state

import (
	"math/rand"
	"sync"
	"sync/atomic"

	"example.org/state/store"
)

type index struct {
	names []string
	count int
	lock  sync.Mutex
}

func (x *index) add(name string) { x.names = append(x.names, name) }

func (x index) first() string { return x.names[0] }

func (x *index) forward(name string) { x.add(name) }

var (
	sCounter     int
	sSum         float64
	sTable       [4]int
	sMap         = map[string]int{}
	sDeleted     = map[string]int{}
	sCleared     []int
	sField       struct{ a, b int }
	sIndex       index
	sPointer     = &index{}
	sForwarded   = &index{}
	sAliased     = &index{}
	sRanged      = []*index{{}}
	sPassed      = []int{1}
	sReturned    = []int{1}
	sAddress     int
	sAtomic      atomic.Int64
	sSyncMap     sync.Map
	sChannel     = make(chan int, 1)
	sRandom      = rand.New(rand.NewSource(1))
	sClosure     = counter()
	sHook        func()
	sOnce        int
	onceGuard    sync.Once
	sInGoFunc    int
	sSorted      = []int{2, 1}
	sAny         any
	sSlice       [4]int
	sAsserted    any = &index{}
	sCommaOk         = map[string]*index{}
	sStruct      struct{ inner []int }
	sTwice       int
	sLater       = sync.OnceValue(func() *[]int { return new([]int) })
	sLaterMap    = sync.OnceValue(func() map[string]int { return map[string]int{} })
	sLaterSlice  = sync.OnceValue(func() []int { return make([]int, 1) })
	sLaterTwo    = sync.OnceValues(func() (*index, error) { return &index{}, nil })
	sLaterSecond = sync.OnceValues(func() (int, *index) { return 1, &index{} })
	sLaterChan   = sync.OnceValue(func() chan int { return make(chan int, 1) })
	sLaterFunc   = sync.OnceValue(counter)
	sLaterGiven  = sync.OnceValue(func() *index { return &index{} })
	sLaterReturn = (sync.OnceValue(func() []int { return []int{1} }))
)

//godlpack:export
func Later() []int {
	*sLater() = append(*sLater(), 1)
	sLaterMap()["a"]++
	slice := sLaterSlice()
	slice[0] = 1
	x, err := sLaterTwo()
	if err == nil {
		x.add("a")
	}
	_, y := sLaterSecond()
	y.count++
	sLaterChan() <- 1
	sLaterFunc()()
	grow(sLaterGiven())
	return sLaterReturn()
}

func grow(x *index) { x.count++ }

func counter() func() int {
	n := 0
	return func() int { n++; return n }
}

func fill(x []int) { x[0] = 1 }

func deeper(x []int) { fill(x[1:]) }

func fillTwice() { sTwice = 2 }

//godlpack:export
func Change(n int, name string) []int {
	sCounter++
	sSum += 0.5
	sTable[n] = 1
	sMap[name] = n
	delete(sDeleted, name)
	clear(sCleared)
	sField.b = n
	sIndex.count = 1
	sPointer.add(name)
	sForwarded.forward(name)
	x := sAliased
	x.count++
	for _, x := range sRanged {
		x.count = n
	}
	deeper(sPassed)
	p := &sAddress
	*p = 1
	sAtomic.Add(1)
	sSyncMap.Store(1, 2)
	sChannel <- 1
	_ = sRandom.Int()
	_ = sClosure()
	sHook = nil
	onceGuard.Do(func() { sOnce = n })
	func() { sInGoFunc = 2 }()
	sortInPlace(sSorted)
	sAny = n
	fill(sSlice[:])
	sAsserted.(*index).count = 2
	if x, ok := sCommaOk[name]; ok {
		x.add(name)
	}
	inner := sStruct.inner
	inner[0] = 1
	fillTwice()
	store.Hit()
	store.Open = map[string]int{}
	return sReturned
}
