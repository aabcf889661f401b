package shards

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// readParquet reads the columns of a Parquet file that are wanted. One that is not on a disk is copied to a temporary file first:
// its columns lie apart.
func readParquet(ctx context.Context, s shard, columns []column, from int64) iter.Seq2[sample, error] {
	return func(yield func(sample, error) bool) {
		p := parquetReader{shard: &s, columns: columns}
		if err := p.open(ctx); err != nil {
			yield(sample{}, s.failed(err))
			return
		}
		defer p.file.Close()
		for _, group := range p.groups {
			rows := group.NumRows()
			if from >= rows {
				from, p.number = from-rows, p.number+rows
				continue
			}
			if err := p.read(group, from, yield); err != nil {
				if err != errLeft {
					yield(sample{}, s.failed(err))
				}
				return
			}
			from = 0
		}
	}
}

// errLeft states that the loop over samples has been left.
var errLeft = fmt.Errorf("left")

type parquetReader struct {
	shard   *shard
	columns []column
	file    *os.File
	groups  []parquet.RowGroup
	leaves  []parquet.LeafColumn // of the columns
	number  int64                // of the next sample
}

func (p *parquetReader) open(ctx context.Context) (err error) {
	if p.file, err = p.shard.objects[0].local(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			p.file.Close()
		}
	}()
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	opened, err := parquet.OpenFile(p.file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	p.groups = opened.RowGroups()
	for _, c := range p.columns {
		leaf, ok := leafOf(opened.Schema(), c)
		if !ok {
			return fmt.Errorf("it has no column %s, only %s", c.name, strings.Join(namesOf(opened.Schema()), ", "))
		}
		if leaf.MaxRepetitionLevel > 1 {
			return fmt.Errorf("column %s: lists of lists cannot be read", c.name)
		}
		if logical := leaf.Node.Type().LogicalType(); logical != nil {
			switch logical.Value.(type) {
			case *format.DecimalType, *format.Float16Type:
				return fmt.Errorf("column %s: numbers of type %s cannot be read", c.name, logical)
			}
		}
		p.leaves = append(p.leaves, leaf)
	}
	return nil
}

// leafOf finds a column by its path, of which lists may lack the end: tokens for tokens.list.element.
func leafOf(schema *parquet.Schema, c column) (parquet.LeafColumn, bool) {
	for _, wanted := range [][]string{{c.name}, c.path} {
		for _, end := range [][]string{nil, {"list", "element"}, {"list", "item"}, {"list", "element", "list", "element"}} {
			if leaf, ok := schema.Lookup(slices.Concat(wanted, end)...); ok {
				return leaf, true
			}
		}
	}
	return parquet.LeafColumn{}, false
}

func namesOf(schema *parquet.Schema) (names []string) {
	for _, path := range schema.Columns() {
		names = append(names, strings.Join(path, "."))
	}
	return names
}

// read yields the rows of a group from one on.
func (p *parquetReader) read(group parquet.RowGroup, from int64, yield func(sample, error) bool) error {
	var cells []*cells
	for _, leaf := range p.leaves {
		c, err := newCells(group.ColumnChunks()[leaf.ColumnIndex], leaf, from)
		if err != nil {
			return err
		}
		defer c.values.Close()
		cells = append(cells, c)
	}
	for p.number += from; from < group.NumRows(); from++ {
		s := sample{shard: p.shard, number: p.number, fields: make([]value, len(cells))}
		for i, c := range cells {
			v, err := c.next()
			if err != nil {
				return s.at(fmt.Errorf("%s: %w", p.columns[i].name, err))
			}
			s.fields[i] = v
		}
		if !yield(s, nil) {
			return errLeft
		}
		p.number++
	}
	return nil
}

// cells are the values of a column in the rows of a group.
type cells struct {
	leaf     parquet.LeafColumn
	values   parquet.ColumnChunkValueReader
	unsigned bool
	buffer   [256]parquet.Value
	ready    []parquet.Value // of the buffer
	ended    bool
}

func newCells(chunk parquet.ColumnChunk, leaf parquet.LeafColumn, from int64) (*cells, error) {
	c := &cells{leaf: leaf, values: parquet.NewColumnChunkValueReader(chunk)}
	if logical := leaf.Node.Type().LogicalType(); logical != nil {
		integer, ok := logical.Value.(*format.IntType)
		c.unsigned = ok && !integer.IsSigned
	}
	if from > 0 {
		return c, c.values.SeekToRow(from)
	}
	return c, nil
}

// peek returns the next value, which stays; nil at the end.
func (c *cells) peek() (*parquet.Value, error) {
	for len(c.ready) == 0 && !c.ended {
		n, err := c.values.ReadValues(c.buffer[:])
		if err != nil && err != io.EOF {
			return nil, err
		}
		c.ready, c.ended = c.buffer[:n], err == io.EOF
	}
	if len(c.ready) == 0 {
		return nil, nil
	}
	return &c.ready[0], nil
}

// next returns the value of the next row. What it refers to is its own.
func (c *cells) next() (value, error) {
	v := value{list: c.leaf.MaxRepetitionLevel > 0}
	for n := 0; ; n++ {
		one, err := c.peek()
		switch {
		case err != nil:
			return v, err
		case n > 0 && (!v.list || one == nil || one.RepetitionLevel() == 0):
			return v, nil
		case one == nil:
			return v, io.ErrUnexpectedEOF
		}
		if err := c.add(&v, one); err != nil {
			return v, err
		}
		c.ready = c.ready[1:]
	}
}

// isEmptyList reports whether a value, which is null, stands for a list without elements.
func (c *cells) isEmptyList(one *parquet.Value) bool {
	level := c.leaf.MaxDefinitionLevel - 1
	if c.leaf.Node.Optional() { // the elements may be null, one level above
		level--
	}
	return c.leaf.MaxRepetitionLevel > 0 && one.DefinitionLevel() == level
}

// add adds a value of a row.
func (c *cells) add(v *value, one *parquet.Value) error {
	kind := c.leaf.Node.Type().Kind()
	if kind == parquet.Float || kind == parquet.Double {
		v.form = formFloats
	} else if kind != parquet.ByteArray && kind != parquet.FixedLenByteArray {
		v.form = formInts
	}
	if one.IsNull() {
		if c.isEmptyList(one) {
			return nil
		}
		return fmt.Errorf("it is null")
	}
	switch kind {
	case parquet.Boolean:
		n := int64(0)
		if one.Boolean() {
			n = 1
		}
		v.ints = append(v.ints, n)
	case parquet.Int32:
		if c.unsigned {
			v.ints = append(v.ints, int64(one.Uint32()))
		} else {
			v.ints = append(v.ints, int64(one.Int32()))
		}
	case parquet.Int64:
		if c.unsigned && one.Int64() < 0 {
			return fmt.Errorf("want an int64, got %d", one.Uint64())
		}
		v.ints = append(v.ints, one.Int64())
	case parquet.Float:
		v.floats = append(v.floats, float64(one.Float()))
	case parquet.Double:
		v.floats = append(v.floats, one.Double())
	case parquet.ByteArray, parquet.FixedLenByteArray:
		if v.list {
			return fmt.Errorf("lists of texts cannot be read")
		}
		v.bytes = bytes.Clone(one.ByteArray())
	default:
		return fmt.Errorf("a column of type %v cannot be read", c.leaf.Node.Type())
	}
	return nil
}
