// Package classes has a mistake in each declaration.
package classes

import "godlpack/tensor"

//godlpack:export
type Good struct {
	//godlpack:export
	Name string
	//godlpack:export name
	Other string
	//godlpack:export
	View tensor.Of[int8]
	//godlpack:export
	Map map[string]int
	//godlpack:arg x
	Wrong int
	//godlpack:export readonly twice more
	Three int
}

//godlpack:export
//godlpack:export
type Twice struct{}

//godlpack:export
type Alias = Good

//godlpack:export
type Generic[T any] struct{ x T }

//godlpack:export
type Iface interface{ F() }

//godlpack:gil hold
type Held struct{}

//godlpack:export two words
type Words struct{}

//godlpack:export lambda
type Keyword struct{}

//godlpack:export Good
type Same struct{}

type unexported struct{}

//godlpack:export
func (u *unexported) Method() {}

//godlpack:new
func Nothing() {}

//godlpack:new
func Value() Good { return Good{} }

//godlpack:new
func Two() (*Good, int) { return nil, 0 }

//godlpack:new name
func Named() *Good { return nil }

//godlpack:new
func First() *Good { return nil }

//godlpack:new
func Second() *Good { return nil }

//godlpack:new
func (g *Good) Made() *Good { return nil }

//godlpack:get
func Get() int { return 0 }

//godlpack:get
func (g *Good) GetNothing() {}

//godlpack:set
func (g *Good) SetNothing() {}

//godlpack:export
func ByValue(g Good) Good { return g }

//godlpack:export
func ByPointer(u *unexported) {}

//godlpack:export Nowhere.method
func Static() {}

//godlpack:set other
func (g *Good) SetAlone(n int) {}

//godlpack:set label
func (g *Good) SetName(text string) {}

//godlpack:export label
func (g *Good) Label() string { return "" }

//godlpack:new
func Self(self int) *Good { return nil }

type Tree []Tree

//godlpack:export
func Recursive(t Tree) {}

//godlpack:export Sequence
type Reserved struct {
	//godlpack:export readonly
	Good
}

//godlpack:export same
func (g *Good) A() {}

//godlpack:export same
func (g *Good) B() {}
