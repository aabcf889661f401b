package cpython

// #include "core.h"
import "C"

import "fmt"

// Entry is one entry of a dict that Go makes.
type Entry struct {
	Name  string
	Value any // string, int64, []int64 (a tuple), []string (a list), or an Object, which stays the caller's
}

// DictOf makes a dict.
//
// Owns: the result is new; on ErrRaised there is none.
func DictOf(entries []Entry) (Object, error) {
	keywords := make([]Keyword, 0, len(entries))
	defer func() {
		for _, k := range keywords {
			k.Value.Release()
		}
	}()
	for _, e := range entries {
		value, err := objectOf(e.Value)
		if err != nil {
			return Object{}, err
		}
		keywords = append(keywords, Keyword{e.Name, value})
	}
	return dictOf(keywords)
}

// Entry returns the value of a name in a dict; the zero Object if there is none, or if o is not a dict.
//
// GIL: held; no exception may be pending.
// Owns: the result is new.
func (o Object) Entry(name string) Object {
	key := textObject(name)
	if !key.Exists() {
		ClearError()
		return key
	}
	defer key.Release()
	found := C.PyDict_GetItemWithError(o.p, key.p)
	if found == nil {
		ClearError()
		return Object{}
	}
	return Object{found}.Retain()
}

func objectOf(v any) (Object, error) {
	switch v := v.(type) {
	case string:
		return Str(v)
	case Object:
		return v.Retain(), nil
	case int64:
		return raisedIfNil(Int(v).p)
	case []int64:
		return raisedIfNil(C.gd_tuple_of(extents(v), C.int(len(v))))
	case []string:
		return ListOf(int64(len(v)), func(i int64) (Object, error) { return Str(v[i]) })
	}
	panic(fmt.Sprintf("cpython: no Python object for a %T", v))
}
