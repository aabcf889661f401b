// Package classes has names that would be the same in the glue.
package classes

import "errors"

// ErrGone reports an A that is gone.
//
//godlpack:export base=KeyError
var ErrGone = errors.New("gone")

// Late is an error with fields.
//
//godlpack:export TooLate base=GoneError
type Late struct {
	Hours  int
	Names  map[string][]string
	Inner  error
	hidden bool
}

func (*Late) Error() string { return "late" }

// A has a method BC.
//
//godlpack:export
type A struct {
	D int //godlpack:export
}

// NewA makes an A.
//
//godlpack:new
func NewA(d int) *A { return &A{D: d} }

// BC is not C of AB.
//
//godlpack:export
func (a *A) BC(all []*AB, one Shape) (*A, Shape, error) { return a, one, nil }

// GetD is not the getter of D.
//
//godlpack:get d2
func (a *A) GetD() int { return a.D }

func (a *A) Len() int                       { return a.D }
func (a *A) Equal(other *A) bool            { return a.D == other.D }
func (a *A) Compare(other *A) int           { return a.D - other.D }
func (a *A) Close() error                   { return nil }
func (a *A) MarshalBinary() ([]byte, error) { return []byte{byte(a.D)}, nil }
func (a *A) UnmarshalBinary(b []byte) error { a.D = int(b[0]); return nil }

// AB has a method C.
//
//godlpack:export Both
type AB struct {
	Key []byte //godlpack:export readonly
}

// C is not BC of A.
//
//godlpack:export
func (a *AB) C() []*AB { return []*AB{a} }

// Shutdown is an explicit name, beside close.
//
//godlpack:export shutdown
func (a *AB) Close() error { return nil }

// Text is the representation, and String the str.
//
//godlpack:export __repr__
func (a *AB) Text() string   { return "" }
func (a *AB) String() string { return "" }

// SetN comes before its getter.
//
//godlpack:set
func (a *AB) SetN(n int) {}

// GetN returns it.
//
//godlpack:get
func (a *AB) GetN() int { return 0 }

// Shape is an interface.
type Shape interface{ C() []*AB }

// NewAB returns a Both, without being its constructor.
//
//godlpack:export
func NewAB() *AB { return &AB{} }

// ClassA would be the variable of the class A.
//
//godlpack:export Both.class_a
func ClassA() {}
