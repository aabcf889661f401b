package shards

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"imagebatch"

	"godlpack/kernel"
)

// A column is one field of all samples, with what it becomes.
type column struct {
	name  string
	names []string // of files in a tar file, any of which is taken: jpg;png
	path  []string // of a field within fields: meta.label
	kind  string   // int64, float32, float64, str, bytes or image
	dims  []int    // of a picture, its height and width; of a list, its length, or -1 if they differ; none of one number
}

// mostExtent is that of imagebatch, and more than a list of numbers should have.
const mostExtent = 65535

var declared = regexp.MustCompile(`^(?:(str|bytes)|(int64|float32|float64)(?:\[([0-9]*)\])?|(image)\[([0-9]+), *([0-9]+)\])$`)

// parseColumns reads how columns are declared, as {"jpg;png": "image[224,224]", "cls": "int64", "tokens": "int64[]"}.
func parseColumns(declarations map[string]string) (columns []column, err error) {
	for _, name := range slices.Sorted(maps.Keys(declarations)) {
		c := column{name: name, names: strings.Split(strings.ToLower(name), ";"), path: strings.Split(name, ".")}
		parts := declared.FindStringSubmatch(declarations[name])
		if parts == nil {
			return nil, kernel.Errorf(kernel.ValueError, "columns: %q: want int64, float32 or float64, such a list as int64[] or, of a fixed length, float32[128], "+
				"str, bytes or image[height,width], got %q", name, declarations[name])
		}
		c.kind = parts[1] + parts[2] + parts[4]
		switch {
		case c.kind == "image":
			c.dims = []int{extent(parts[5]), extent(parts[6])}
		case strings.HasSuffix(declarations[name], "[]"):
			c.dims = []int{-1}
		case parts[3] != "":
			c.dims = []int{extent(parts[3])}
		}
		for _, n := range c.dims {
			if n == 0 || n > mostExtent {
				return nil, kernel.Errorf(kernel.ValueError, "columns: %q: want extents of 1 to %d, got %q", name, mostExtent, declarations[name])
			}
		}
		columns = append(columns, c)
	}
	if len(columns) == 0 {
		return nil, kernel.Errorf(kernel.ValueError, `columns: want at least one, as {"jpg": "image[224,224]", "cls": "int64"}`)
	}
	return columns, nil
}

func extent(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return mostExtent + 1
	}
	return n
}

// isCalled reports whether a file of this name, in a tar file, is of the column.
func (c column) isCalled(name string) bool { return slices.Contains(c.names, name) }

// A filled column has the values of a batch. Those of its kind are not nil.
type filled struct {
	column   column
	ints     []int64
	float32s []float32
	float64s []float64
	pixels   []byte
	texts    []string
	blobs    [][]byte
	offsets  []int64 // of lists of different lengths: where each begins, and the end
}

// newFilled returns a column with room for n values.
func newFilled(c column, n int) *filled {
	f := &filled{column: c}
	size := n
	if len(c.dims) == 1 {
		size = n * max(c.dims[0], 0)
	}
	switch c.kind {
	case "int64":
		f.ints = make([]int64, 0, size)
	case "float32":
		f.float32s = make([]float32, 0, size)
	case "float64":
		f.float64s = make([]float64, 0, size)
	case "image":
		f.pixels = make([]byte, n*3*c.dims[0]*c.dims[1])
	case "str":
		f.texts = make([]string, 0, n)
	default:
		f.blobs = make([][]byte, 0, n)
	}
	if c.ragged() {
		f.offsets = append(make([]int64, 0, n+1), 0)
	}
	return f
}

func (c column) ragged() bool { return len(c.dims) == 1 && c.dims[0] < 0 }

// A scratch is the memory that one goroutine needs to decode batches.
type scratch struct {
	lines, lists fastjson.Parser
	pictures     imagebatch.Decoder
	fields       []value
}

// add adds the value of sample i.
func (f *filled) add(scratch *scratch, i int, v value) (err error) {
	switch f.column.kind {
	case "int64":
		f.ints, err = addNumbers(f, f.ints, v, &scratch.lists)
	case "float32":
		f.float32s, err = addNumbers(f, f.float32s, v, &scratch.lists)
	case "float64":
		f.float64s, err = addNumbers(f, f.float64s, v, &scratch.lists)
	case "image":
		data, err := v.blob()
		if err != nil {
			return err
		}
		height, width := f.column.dims[0], f.column.dims[1]
		size := 3 * height * width
		return scratch.pictures.Decode(data, height, width, f.pixels[i*size:(i+1)*size])
	case "str":
		text, err := v.text()
		f.texts = append(f.texts, text)
		return err
	default:
		data, err := v.blob()
		if v.form == formJSON { // the parser's memory
			data = slices.Clone(data)
		}
		f.blobs = append(f.blobs, data)
		return err
	}
	return err
}

// addNumbers adds one number, or a list of them.
func addNumbers[T number](f *filled, to []T, v value, parser *fastjson.Parser) ([]T, error) {
	if len(f.column.dims) == 0 {
		return appendNumber(to, v)
	}
	before := len(to)
	to, err := appendNumbers(to, v, parser)
	if n := len(to) - before; err == nil && !f.column.ragged() && n != f.column.dims[0] {
		err = fmt.Errorf("want a list of %d numbers, got %d", f.column.dims[0], n)
	}
	if f.column.ragged() {
		f.offsets = append(f.offsets, int64(len(to)))
	}
	return to, err
}
