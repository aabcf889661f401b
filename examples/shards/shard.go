package shards

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"strings"
	"syscall"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"godlpack/dlpack"
	"godlpack/kernel"
)

// A shard is a file with samples, or some files with one each.
type shard struct {
	name    string
	read    reader
	objects []object
}

// A reader reads the samples of a shard from the one with number from on: those columns of each that are wanted.
type reader func(ctx context.Context, s shard, columns []column, from int64) iter.Seq2[sample, error]

// A sample has its fields as the shard has them: a line, or one for each column.
type sample struct {
	shard  *shard
	number int64
	line   []byte
	fields []value
}

// at adds to an error where it is from.
func (s sample) at(err error) error {
	return kernel.Errorf(kernel.ValueError, "%s, sample %d: %w", s.shard.name, s.number, err)
}

// failed adds the shard's name to an error of reading it. What is not of files and servers is a ValueError: damage.
func (s shard) failed(err error) error {
	var ofFile *fs.PathError
	var own *dlpack.Error
	switch {
	case errors.As(err, &ofFile), errors.Is(err, context.Canceled): // it has a name, or needs none
		return err
	case errors.As(err, &own), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, new(syscall.Errno)):
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return kernel.Errorf(kernel.ValueError, "%s: %w", s.name, err)
}

// readers are those of formats by the ends of their names.
var readers = map[string]reader{".tar": readTar, ".jsonl": readLines, ".ndjson": readLines, ".parquet": readParquet}

// uncompressed removes the end of a name that says how the file is compressed.
func uncompressed(name string) string {
	for _, end := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, end)
	}
	if short, ok := strings.CutSuffix(name, ".tgz"); ok {
		return short + ".tar"
	}
	return name
}

func readerOf(url string) (reader, error) {
	name := strings.ToLower(nameOfURL(url))
	if f, ok := readers[path.Ext(uncompressed(name))]; ok {
		return f, nil
	}
	return nil, kernel.Errorf(kernel.ValueError, "%s: want a name that ends in .tar, .jsonl, .ndjson, with .gz or .zst perhaps, .parquet, .jpg, .jpeg or .png", url)
}

// known reports whether a file is a shard, or a picture.
func known(name string) bool {
	_, err := readerOf(name)
	return err == nil || isPicture(name)
}

// A file is an open object that is decompressed.
type file struct {
	io.Reader
	closers []func() error
}

func (f *file) Close() error {
	for _, closeIt := range f.closers {
		closeIt() // it has been read; there is nothing to lose
	}
	return nil
}

// errEmpty is the error of a file without a byte, which of these formats none is.
var errEmpty = errors.New("the file is empty")

// open opens an object, and decompresses it.
func open(ctx context.Context, o object) (*file, error) {
	raw, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	f := &file{Reader: raw, closers: []func() error{raw.Close}}
	if end := path.Ext(strings.ToLower(nameOfURL(o.url))); end != ".jsonl" && end != ".ndjson" {
		begin := bufio.NewReaderSize(raw, 64<<10)
		if _, err := begin.Peek(1); err != nil {
			f.Close()
			if err == io.EOF {
				err = errEmpty
			}
			return nil, err
		}
		f.Reader = begin
	}
	switch name := strings.ToLower(nameOfURL(o.url)); {
	case strings.HasSuffix(name, ".gz"), strings.HasSuffix(name, ".tgz"):
		unzipped, err := gzip.NewReader(f.Reader)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("gzip: %w", err)
		}
		f.Reader = unzipped
	case strings.HasSuffix(name, ".zst"):
		unzipped, err := zstd.NewReader(f.Reader, zstd.WithDecoderConcurrency(1))
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("zstd: %w", err)
		}
		f.Reader = unzipped
		f.closers = append(f.closers, func() error { unzipped.Close(); return nil })
	}
	return f, nil
}
