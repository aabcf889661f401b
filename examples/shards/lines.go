package shards

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/valyala/fastjson"
)

const (
	chunkSize   = 256 << 10
	longestLine = 1 << 30
)

// readLines reads a file of JSON objects, one a line. They are parsed when a batch is made of them.
func readLines(ctx context.Context, s shard, _ []column, from int64) iter.Seq2[sample, error] {
	return func(yield func(sample, error) bool) {
		f, err := open(ctx, s.objects[0])
		if err != nil {
			yield(sample{}, s.failed(err))
			return
		}
		defer f.Close()
		number := int64(0)
		for line, err := range linesOf(f.Reader) {
			if err != nil {
				yield(sample{}, s.failed(err))
				return
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			if number >= from && !yield(sample{shard: &s, number: number, line: line}, nil) {
				return
			}
			number++
		}
	}
}

// linesOf yields the lines of a file, which stay valid: they are parts of chunks that are not used again.
func linesOf(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var rest []byte // of a line that goes on in the next chunk
		for size := chunkSize; ; {
			if len(rest) > longestLine {
				yield(nil, fmt.Errorf("a line of more than %d bytes", longestLine))
				return
			}
			chunk := make([]byte, len(rest)+size)
			n, err := fill(r, chunk[copy(chunk, rest):])
			chunk = chunk[:len(rest)+n]
			for {
				line, after, found := bytes.Cut(chunk, []byte("\n"))
				if !found {
					break
				}
				if !yield(line, nil) {
					return
				}
				chunk = after
			}
			rest, size = chunk, max(chunkSize, len(chunk)) // a long line is read in steps that double
			if err == io.EOF {
				if len(rest) > 0 {
					yield(rest, nil)
				}
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// fill reads until to is full. Unlike io.ReadFull, it returns io.EOF at the end of a file alone: io.ErrUnexpectedEOF is that of a
// compressed file, or of a server's, that has been cut.
func fill(r io.Reader, to []byte) (n int, err error) {
	for n < len(to) && err == nil {
		var more int
		more, err = r.Read(to[n:])
		n += more
	}
	return n, err
}

// fieldsOf returns the fields of a line, which are valid until the parser's next one.
func fieldsOf(parser *fastjson.Parser, line []byte, columns []column, fields []value) ([]value, error) {
	parsed, err := parser.ParseBytes(line)
	if err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if parsed.Type() != fastjson.TypeObject {
		return nil, fmt.Errorf("want a JSON object, got %s", excerpt(line))
	}
	for i, c := range columns {
		found := parsed.Get(c.name)
		if found == nil {
			found = parsed.Get(c.path...)
		}
		if found == nil {
			return nil, fmt.Errorf("it has no field %s", c.name)
		}
		fields[i] = value{json: found, form: formJSON}
	}
	return fields, nil
}
