package cpython

import (
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// argument returns an Object that is different from all others and must not be used as a Python object.
func argument() Object { return *(*Object)(unsafe.Pointer(&[]*[64]byte{new([64]byte)}[0])) }

func TestSign(t *testing.T) {
	s := Sign("from_dlpack(x, /, *, device=?, copy=?)")
	want := []Param{{"x", PositionalOnly, false}, {"device", KeywordOnly, true}, {"copy", KeywordOnly, true}}
	if s.Func != "from_dlpack" || !slices.Equal(s.Params, want) {
		t.Errorf("got %+v, want from_dlpack with %+v", s, want)
	}
	if s := Sign("item()"); s.Func != "item" || len(s.Params) != 0 {
		t.Errorf("got %+v, want item without parameters", s)
	}
}

func TestBind(t *testing.T) {
	a, b := argument(), argument()
	s := Sign("full(shape, value, dtype=?, *, device=?)")
	bound, err := s.Bind(&Call{args: []Object{a}, keywords: []Keyword{{"device", b}, {"value", b}}})
	if err != nil || !slices.Equal(bound, []Object{a, b, {}, b}) {
		t.Errorf("got %v, %v", bound, err)
	}
}

func TestBindRefuses(t *testing.T) {
	a := argument()
	cases := []struct {
		call *Call
		want string
	}{
		{&Call{}, "missing required argument 'shape'"},
		{&Call{args: []Object{a, a, a, a}}, "takes at most 3 positional arguments, got 4"},
		{&Call{args: []Object{a, a}, keywords: []Keyword{{"shape", a}}}, "got multiple values for argument 'shape'"},
		{&Call{args: []Object{a, a}, keywords: []Keyword{{"order", a}}}, "got an unexpected keyword argument 'order'"},
	}
	s := Sign("full(shape, value, dtype=?, *, device=?)")
	for _, c := range cases {
		if _, err := s.Bind(c.call); err == nil || !strings.HasSuffix(err.Error(), "TypeError: full() "+c.want) {
			t.Errorf("got %v, want TypeError: full() %s", err, c.want)
		}
	}
	if _, err := Sign("item(x, /)").Bind(&Call{keywords: []Keyword{{"x", a}}}); err == nil {
		t.Error("a positional-only parameter was passed by name")
	}
}
