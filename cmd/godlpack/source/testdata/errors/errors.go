// Package errors has a function for each mistake.
package errors

import (
	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/tensor"
)

//godlpack:exprot
func Misspelled() {}

//godlpack:arg x order=C
func NotExported(x tensor.Of[float32]) {}

// T has a method.
type T struct{ N int }

//godlpack:export
func (T) Method() {}

//godlpack:export

func CommentApart() {}

//godlpack:export two words
func TwoNames() {}

//godlpack:export lambda
func Keyword() {}

//godlpack:export
func Twice() {}

//godlpack:export twice
func TwiceToo() {}

//godlpack:export
//godlpack:export
func ExportTwice() {}

//godlpack:export
//godlpack:gil release
func ReleaseGIL() {}

//godlpack:export
func Types(a T, b map[string]int, c func(), d any, e complex128, f [3]float64, g chan int, h uintptr, i [][]int, j **int,
	k []kernel.Callable, l *dlpack.Tensor, m dlpack.Tensor, n []*int, o error) {
}

//godlpack:export
func ContextLast(x int, ctx *kernel.Ctx) {}

//godlpack:export
func Variadic(x int, rest ...byte) {}

//godlpack:export
func Unnamed(int, _ int) {}

//godlpack:export
func Names(nRows, n_rows int, ñ int) {}

//godlpack:export
func Results(x int) (error, T, kernel.Callable, error) { return nil, T{}, kernel.Callable{}, nil }

//godlpack:export
func Reserved(like tensor.Of[float32], out int) tensor.Of[float32] { return like }

//godlpack:export
func Unconstrained[E any](x int) {}

//godlpack:export
func NothingDecides[E float32 | float64](x *tensor.Of[E]) {}

//godlpack:export
//godlpack:types E=float32,int8,nonsense F=float32
//godlpack:types E
//godlpack:types
func WrongTypes[E float32 | float64](x tensor.Of[E]) {}

//godlpack:export
func PairOfTypes[E float32 | float64](x tensor.Of[E], y []E, z E) {}

//godlpack:export
func IntegerOfTypes[E int32 | int64](x tensor.Of[E], z E) {}

//godlpack:export
//godlpack:result
//godlpack:result 1 shape=[n]
//godlpack:result 0 shape=n order=C device=cuda
func ResultMarks(x tensor.Of[float32]) (tensor.Of[float32], error) { return x, nil }

//godlpack:export
//godlpack:result shape=[n]
func ResultOfNumbers(x tensor.Of[float32]) float64 { return 0 }

//godlpack:export
//godlpack:arg
//godlpack:arg z order=C
//godlpack:arg x order=Z shape=n shape=[a-b] shape=[...,...] device=tpu device=cuda sorted order
//godlpack:arg y convert
//godlpack:arg n order=C
func Arguments(x tensor.Of[float32], y tensor.Mut[float32], n int) {}

//godlpack:export
//godlpack:arg b default=maybe
//godlpack:arg i default=300
//godlpack:arg u default=-1
//godlpack:arg f default=nan
//godlpack:arg s default="open
//godlpack:arg d default=float33
//godlpack:arg on default=nowhere
//godlpack:arg list default=[1,x]
//godlpack:arg p default=zero
//godlpack:arg x default=0
func Defaults(b bool, i int8, u uint, f float64, s string, d dlpack.DType, on dlpack.Device, list []int, p *int, x tensor.Of[int8], last int) {
}

//godlpack:export
//godlpack:arg a default=1
func DefaultFirst(a, b int) {}

// godlpack:export
func Blank() {}

//godlpck:export
func Letters() {}

// godlpack:
func NoVerb() {}

// godlpack-export
func Dash() {}

// godlpack exports functions, and this is a sentence.
func Sentence() {}

//godlpack:state fork=fresh
//godlpack:export
func WithState() {}

//godlpack:state fork=never

//godlpack:result like=numpy

//godlpack:export
//godlpack:result like=tensorflow
func LikeWhat() tensor.Of[float32] { panic("") }

//godlpack:export
//godlpack:result like=numpy
func LikeNothing() int { return 0 }

//godlpack:export
type Marked int

func inside() {
	//godlpack:state fork=fresh
}

// Loose are options with mistakes.
//
//godlpack:options
type Loose struct {
	Field          // embedded
	Wait  chan int //godlpack:arg default=1
	Count int8     //godlpack:arg default=1000
	Name  string   //godlpack:export
	quiet bool     //godlpack:arg default=true
}

type Field struct{ X int }

func DefaultLoose() (Loose, error) { return Loose{}, nil }

//godlpack:options
type Number int

//godlpack:options
type None struct{}

//godlpack:export
func TakesLoose(o Loose) {}

//godlpack:export
//godlpack:arg a keyword
//godlpack:arg more default=1
func Order(a, b int, more ...string) {}

//godlpack:options
type Fine struct{ A int }

//godlpack:export
func Clash(a int, f Fine, g *Fine) {}

//godlpack:export
func GivesOptions() Fine { return Fine{} }

//godlpack:options
type ReservedOptions struct{ Like, Out int }

//godlpack:export
func TakesReserved(x tensor.Of[int8], r ReservedOptions) tensor.Of[int8] { return x }
