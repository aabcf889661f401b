package kernel

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"time"

	"godlpack/dlpack"
	"godlpack/packed"
)

// Value returns argument i, which is declared by a Type that describes T. An error of it ends the call: a number that T cannot
// hold, or a list of another length than an array.
func Value[T any](c *Call, i int) (v T) {
	tree, err := valueOf(c, c.cell(i))
	if err == nil {
		err = decode(reflect.ValueOf(&v).Elem(), tree)
	}
	if err != nil {
		panic(dlpack.Wrap(err, c.fn.label()+"(): argument '"+c.fn.Params[i].Name+"'"))
	}
	return v
}

// ReturnValue returns a value that a Type describes.
func ReturnValue[T any](c *Call, v T) {
	tree, err := encode(reflect.ValueOf(&v).Elem())
	if err != nil {
		c.give(packed.Cell{}, dlpack.Wrap(err, c.fn.label()+"(): result"))
		return
	}
	c.give(c.cellOf(tree))
}

var (
	timeType = reflect.TypeFor[time.Time]()
	bigType  = reflect.TypeFor[big.Int]()
)

// decode sets v to what a tree describes.
func decode(v reflect.Value, tree any) error {
	switch v.Type() {
	case timeType:
		parts, _ := tree.([]any)
		if len(parts) != 3 {
			return mismatch(v, tree)
		}
		seconds, _ := parts[0].(int64)
		nanoseconds, _ := parts[1].(int64)
		t := time.Unix(seconds, nanoseconds).UTC()
		if east, _ := parts[2].(int64); east != 0 {
			t = t.In(time.FixedZone("", int(east)))
		}
		v.Set(reflect.ValueOf(t))
		return nil
	case bigType:
		text, _ := tree.(string)
		if _, ok := v.Addr().Interface().(*big.Int).SetString(text, 16); !ok {
			return mismatch(v, tree)
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return decodeScalar(v, tree)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return decodeInt(v, tree)
	case reflect.Pointer:
		if tree == nil {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return decode(v.Elem(), tree)
	case reflect.Interface:
		value, err := plainValue(tree)
		if err == nil && value != nil {
			v.Set(reflect.ValueOf(value))
		}
		return err
	}
	return decodeParts(v, tree)
}

func decodeScalar(v reflect.Value, tree any) error {
	switch tree := tree.(type) {
	case bool:
		if v.Kind() == reflect.Bool {
			v.SetBool(tree)
			return nil
		}
	case string:
		if v.Kind() == reflect.String {
			v.SetString(tree)
			return nil
		}
	case float64:
		if v.CanFloat() && (!v.OverflowFloat(tree) || math.IsInf(tree, 0)) {
			v.SetFloat(tree)
			return nil
		}
		if v.CanFloat() {
			return Errorf(OverflowError, "want %s, got %v", v.Type(), tree)
		}
	case int64:
		if v.CanFloat() {
			v.SetFloat(float64(tree))
			return nil
		}
	case []any:
		if v.CanComplex() && len(tree) == 2 {
			re, _ := tree[0].(float64)
			im, _ := tree[1].(float64)
			if v.OverflowComplex(complex(re, im)) && !math.IsInf(re, 0) && !math.IsInf(im, 0) {
				return Errorf(OverflowError, "want %s, got %v", v.Type(), complex(re, im))
			}
			v.SetComplex(complex(re, im))
			return nil
		}
	}
	return mismatch(v, tree)
}

func decodeInt(v reflect.Value, tree any) error {
	switch n := tree.(type) {
	case int64:
		if v.CanInt() && !v.OverflowInt(n) {
			v.SetInt(n)
			return nil
		}
		if v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)) {
			v.SetUint(uint64(n))
			return nil
		}
	case uint64:
		if v.CanUint() && !v.OverflowUint(n) {
			v.SetUint(n)
			return nil
		}
	default:
		return mismatch(v, tree)
	}
	return Errorf(OverflowError, "want %s, got %v", v.Type(), tree)
}

// decodeParts decodes slices, arrays, maps and structs.
func decodeParts(v reflect.Value, tree any) error {
	if bytes, ok := tree.([]byte); ok && isBytes(v.Type()) {
		if v.Kind() == reflect.Slice {
			v.SetBytes(bytes)
		} else if n := reflect.Copy(v, reflect.ValueOf(bytes)); n != v.Len() || n != len(bytes) {
			return Errorf(ValueError, "want %d bytes, got %d", v.Len(), len(bytes))
		}
		return nil
	}
	parts, ok := tree.([]any)
	if !ok {
		return mismatch(v, tree)
	}
	switch v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
		return decodeElements(v, parts)
	case reflect.Array:
		if len(parts) != v.Len() {
			return Errorf(ValueError, "want %d elements, got %d", v.Len(), len(parts))
		}
		return decodeElements(v, parts)
	case reflect.Struct:
		return decodeFields(v, parts)
	case reflect.Map:
		return decodeMap(v, parts)
	}
	return mismatch(v, tree)
}

// isBytes reports whether values of a slice or an array type are bytes in Python: those of a named type are a list.
func isBytes(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem() == reflect.TypeFor[byte]()
}

func decodeElements(v reflect.Value, parts []any) error {
	for i, part := range parts {
		if err := decode(v.Index(i), part); err != nil {
			return dlpack.Wrap(err, "["+strconv.Itoa(i)+"]")
		}
	}
	return nil
}

func decodeFields(v reflect.Value, parts []any) error {
	fields := recordFields(v.Type())
	if len(parts) != len(fields) {
		return mismatch(v, parts)
	}
	for i, f := range fields {
		if err := decode(v.Field(f), parts[i]); err != nil {
			return dlpack.Wrap(err, v.Type().Field(f).Name)
		}
	}
	return nil
}

func decodeMap(v reflect.Value, parts []any) error {
	v.Set(reflect.MakeMapWithSize(v.Type(), len(parts)/2))
	for i := 0; i+1 < len(parts); i += 2 {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		if err := decode(key, parts[i]); err != nil {
			return dlpack.Wrap(err, "a key")
		}
		if err := decode(value, parts[i+1]); err != nil {
			return dlpack.Wrap(err, keyText(key))
		}
		v.SetMapIndex(key, value)
	}
	return nil
}

// keyText returns the place of a map's value in error texts.
func keyText(key reflect.Value) string {
	if text := key.String(); key.Kind() == reflect.String {
		return "[" + strconv.Quote(text[:min(len(text), 100)]) + "]"
	}
	return fmt.Sprintf("[%v]", key)
}

// recordFields returns the indices of a struct's exported fields, which are those of the record.
func recordFields(t reflect.Type) []int {
	var all []int
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			all = append(all, i)
		}
	}
	return all
}

// plainValue returns what encoding/json would make of a tree: lists are []any, dicts map[string]any. Ints are int64, not
// float64, and bytes []byte.
func plainValue(tree any) (any, error) {
	parts, ok := tree.([]any)
	if !ok {
		return tree, nil
	}
	if len(parts) == 0 {
		return nil, Errorf(TypeError, "want a value that JSON can say")
	}
	if parts[0] == "list" {
		list := make([]any, len(parts)-1)
		for i := range list {
			var err error
			if list[i], err = plainValue(parts[i+1]); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	dict := make(map[string]any, len(parts)/2)
	for i := 1; i+1 < len(parts); i += 2 {
		key, _ := parts[i].(string)
		value, err := plainValue(parts[i+1])
		if err != nil {
			return nil, err
		}
		dict[key] = value
	}
	return dict, nil
}

func mismatch(v reflect.Value, tree any) error {
	return Errorf(TypeError, "want %s, got %T", v.Type(), tree)
}

// encode returns the tree of v, which is addressable.
func encode(v reflect.Value) (any, error) {
	switch v.Type() {
	case timeType:
		t := v.Interface().(time.Time)
		_, east := t.Zone()
		return []any{t.Unix(), int64(t.Nanosecond()), int64(east)}, nil
	case bigType:
		b := v.Interface().(big.Int)
		return b.Text(16), nil
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.Complex64, reflect.Complex128:
		return []any{real(v.Complex()), imag(v.Complex())}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint(), nil
	case reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return encode(v.Elem())
	case reflect.Interface:
		return plainTree(v.Interface())
	}
	return encodeParts(v)
}

// encodeParts encodes slices, arrays, maps and structs.
func encodeParts(v reflect.Value) (any, error) {
	var parts []any
	add := func(part reflect.Value, where string) error {
		tree, err := encode(part)
		parts = append(parts, tree)
		return dlpack.Wrap(err, where)
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if isBytes(v.Type()) {
			return v.Bytes(), nil
		}
		for i := range v.Len() {
			if err := add(v.Index(i), "["+strconv.Itoa(i)+"]"); err != nil {
				return nil, err
			}
		}
	case reflect.Struct:
		for _, f := range recordFields(v.Type()) {
			if err := add(v.Field(f), v.Type().Field(f).Name); err != nil {
				return nil, err
			}
		}
	case reflect.Map:
		for all := v.MapRange(); all.Next(); {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(all.Key())
			value.Set(all.Value())
			if err := add(key, "a key"); err != nil {
				return nil, err
			}
			if err := add(value, keyText(key)); err != nil {
				return nil, err
			}
		}
	default:
		return nil, Errorf(TypeError, "want a value that Python has, got a %s", v.Type())
	}
	return append([]any{}, parts...), nil
}

// A value of type any may contain itself, or the same part many times: its tree has at most so many lists and maps within each
// other, and so many values.
const (
	deepest = 60
	most    = 1 << 22
)

// A planter makes the trees of values of type any.
type planter struct{ left int }

// plainTree is encode for values of type any.
func plainTree(value any) (any, error) {
	p := planter{most}
	return p.tree(value, 0)
}

func (p *planter) tree(value any, depth int) (any, error) {
	if p.left--; depth > deepest || p.left < 0 {
		return nil, Errorf(ValueError, "want at most %d lists and maps within each other, and %d values", deepest, most)
	}
	switch value := value.(type) {
	case nil, bool, int, int64, uint64, float64, string, []byte:
		return value, nil
	case []any:
		parts := []any{"list"}
		for i, one := range value {
			tree, err := p.tree(one, depth+1)
			if err != nil {
				return nil, dlpack.Wrap(err, "["+strconv.Itoa(i)+"]")
			}
			parts = append(parts, tree)
		}
		return parts, nil
	case map[string]any:
		parts := []any{"dict"}
		for key, one := range value {
			tree, err := p.tree(one, depth+1)
			if err != nil {
				return nil, dlpack.Wrap(err, keyText(reflect.ValueOf(key)))
			}
			parts = append(parts, key, tree)
		}
		return parts, nil
	}
	return p.other(reflect.ValueOf(value), depth)
}

// other is tree for types of other names, and for slices and maps of one type.
func (p *planter) other(v reflect.Value, depth int) (any, error) {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return v.Uint(), nil
	case reflect.Pointer:
		if v.IsNil() {
			return nil, nil
		}
		return p.tree(v.Elem().Interface(), depth+1)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && isBytes(v.Type()) { // json.RawMessage, for instance
			return v.Bytes(), nil
		}
		parts := make([]any, min(v.Len(), p.left+1))
		for i := range parts {
			parts[i] = v.Index(i).Interface()
		}
		return p.tree(parts, depth)
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			parts := make(map[string]any, v.Len())
			for all := v.MapRange(); all.Next(); {
				parts[all.Key().String()] = all.Value().Interface()
			}
			return p.tree(parts, depth)
		}
	}
	return nil, Errorf(TypeError, "want a value that JSON can say, got a %s", v.Type())
}
