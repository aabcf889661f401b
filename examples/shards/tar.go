package shards

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
)

// readTar reads a tar file in the layout of webdataset: consecutive files whose names are equal up to the first dot of the last
// part are a sample, and what follows that dot is the field: 000/17.jpg and 000/17.cls.
func readTar(ctx context.Context, s shard, columns []column, from int64) iter.Seq2[sample, error] {
	return func(yield func(sample, error) bool) {
		f, err := open(ctx, s.objects[0])
		if err != nil {
			yield(sample{}, s.failed(err))
			return
		}
		defer f.Close()
		t := tarReader{shard: &s, columns: columns, from: from, number: -1}
		if err := t.read(f.Reader, yield); err != nil {
			yield(sample{}, s.failed(err))
		}
	}
}

// A tarReader gathers the files of a sample.
type tarReader struct {
	shard   *shard
	columns []column
	from    int64
	number  int64  // of the sample that is being read
	key     string // of that, too
	fields  []value
	found   []string // the fields that it has
}

// read yields all samples.
func (t *tarReader) read(file io.Reader, yield func(sample, error) bool) error {
	whole := &endReader{Reader: file}
	files := tar.NewReader(whole)
	for {
		header, err := files.Next()
		if err == io.EOF {
			if err := whole.check(); err != nil {
				return err
			}
			t.give(yield)
			return nil
		}
		if err != nil {
			return err
		}
		folder, name := path.Split(header.Name)
		key, field, ok := strings.Cut(name, ".")
		if header.Typeflag != tar.TypeReg || !ok || key == "" {
			continue
		}
		if key = folder + key; key != t.key || t.number < 0 {
			if !t.give(yield) {
				return nil
			}
			t.number, t.key = t.number+1, key
			t.fields, t.found = make([]value, len(t.columns)), nil
		}
		if err := t.take(strings.ToLower(field), files, header.Size); err != nil {
			return err
		}
	}
}

// An endReader notes whether a file has been read to its end. Of a tar file, this happens only if the blocks of zeros are not
// there that mark its end: for archive/tar it is then just shorter.
type endReader struct {
	io.Reader
	ended bool
}

func (r *endReader) Read(to []byte) (n int, err error) {
	n, err = r.Reader.Read(to)
	r.ended = r.ended || n == 0 && err == io.EOF
	return n, err
}

// check is called behind the last file, and returns an error if more should come, or does.
func (r *endReader) check() error {
	if r.ended {
		return io.ErrUnexpectedEOF
	}
	rest := make([]byte, 4096)
	for {
		n, err := r.Read(rest)
		if len(bytes.Trim(rest[:n], "\x00")) > 0 {
			return errors.New("there are more data behind the end: if tar files have been joined, take them apart")
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take keeps the contents of a file if it is of a column.
func (t *tarReader) take(field string, file io.Reader, size int64) error {
	if t.number < t.from {
		return nil
	}
	t.found = append(t.found, field)
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.isCalled(field) })
	if i < 0 {
		return nil
	}
	if t.fields[i].bytes != nil {
		return fmt.Errorf("%s: it has two files for %s", t.key, t.columns[i].name)
	}
	data := make([]byte, size)
	_, err := io.ReadFull(file, data)
	t.fields[i].bytes = data
	return err
}

// give yields the sample that has been read, if there is one and it is to be.
func (t *tarReader) give(yield func(sample, error) bool) bool {
	if t.number < t.from {
		return true
	}
	s := sample{shard: t.shard, number: t.number, fields: t.fields}
	for i, c := range t.columns {
		if t.fields[i].bytes == nil {
			return yield(s, s.at(fmt.Errorf("%s: it has no file %s, only %s", t.key, c.name, strings.Join(t.found, ", "))))
		}
	}
	return yield(s, nil)
}
