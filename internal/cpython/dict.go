package cpython

// #include "core.h"
import "C"

import "fmt"

// Entry is one entry of a dict that Go makes: a text, a number, or a list of texts under a name.
type Entry struct {
	Name  string
	Value any // string, int64 or []string
}

// DictOf makes a dict.
//
// GIL: held.
// Owns: the result is new; on ErrRaised there is none.
// Threads: any with the GIL.
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

func objectOf(v any) (Object, error) {
	switch v := v.(type) {
	case string:
		return Text(v)
	case int64:
		return raisedIfNil(Int(v).p)
	case []string:
		items := make([]Object, 0, len(v))
		for _, s := range v {
			item, err := Text(s)
			if err != nil {
				ReleaseAll(items)
				return Object{}, err
			}
			items = append(items, item)
		}
		return ListOf(items)
	}
	panic(fmt.Sprintf("cpython: no Python object for a %T", v))
}
