package imagebatch

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"godlpack/kernel"
	"godlpack/tensor"
)

// Decode reads the JPEG and PNG files at paths and returns them as one uint8 tensor of shape (len(paths), 3, height, width):
// red, green and blue, from 0 to 255. Each is scaled to that size by the filter that Pillow calls BILINEAR, which takes the
// mean of all pixels that a new one covers. Transparency is dropped, and so is the orientation that a camera notes.
//
// ValueError, with the file's name: one that cannot be read, that is neither JPEG nor PNG, that is damaged, or that has more
// than 178956970 pixels. ValueError too: a height or a width outside of 1 to 65535.
//
//godlpack:export
//godlpack:arg height default=224
//godlpack:arg width default=224
func Decode(ctx *kernel.Ctx, paths []string, height, width int) (tensor.Mut[uint8], error) {
	b := batch{"decode", height, width}
	return b.decode(ctx, len(paths), func(i int) ([]byte, string, error) {
		data, err := os.ReadFile(paths[i])
		return data, fmt.Sprintf("paths[%d], %s", i, paths[i]), err
	})
}

// DecodeBytes decodes files that are in memory, each as bytes or as a tensor of them, as decode does those at paths.
//
//godlpack:export
//godlpack:arg files shape=[*] order=C
//godlpack:arg height default=224
//godlpack:arg width default=224
func DecodeBytes(ctx *kernel.Ctx, files []tensor.Of[uint8], height, width int) (tensor.Mut[uint8], error) {
	b := batch{"decode_bytes", height, width}
	return b.decode(ctx, len(files), func(i int) ([]byte, string, error) {
		return files[i].Slice(), fmt.Sprintf("files[%d]", i), nil
	})
}

// A batch is the options that all pictures have in common.
type batch struct {
	function      string // in Python
	height, width int
}

// mostExtent is so small that weights and offsets do not overflow.
const mostExtent = 65535

// decode fills a new tensor with n pictures; read returns a file and its name for error texts.
func (b batch) decode(ctx *kernel.Ctx, n int, read func(i int) ([]byte, string, error)) (out tensor.Mut[uint8], err error) {
	if min(b.height, b.width) < 1 || max(b.height, b.width) > mostExtent {
		return out, kernel.Errorf(kernel.ValueError, "%s(): want a height and a width of 1 to %d, got %d and %d", b.function, mostExtent, b.height, b.width)
	}
	out = kernel.Empty[uint8](ctx, int64(n), 3, int64(b.height), int64(b.width))
	pixels, size := out.Slice(), 3*b.height*b.width
	var failed failure
	kernel.Parallel(ctx, n, func(lo, hi int) {
		d := decoders.Get().(*Decoder)
		defer decoders.Put(d)
		for i := lo; i < hi && failed.before(i) && ctx.Err() == nil; i++ { // a piece may have many files
			data, name, err := read(i)
			if err == nil {
				err = d.Decode(data, b.height, b.width, pixels[i*size:(i+1)*size])
			}
			if err != nil {
				failed.keep(i, kernel.Errorf(kernel.ValueError, "%s(): %s: %w", b.function, name, err))
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, failed.err()
}

// decoders are those that no goroutine uses: they have memory.
var decoders = sync.Pool{New: func() any { return new(Decoder) }}

// A failure is the error of the file with the lowest number among those that failed, in any order of the goroutines.
type failure struct{ first atomic.Pointer[failedFile] }

type failedFile struct {
	i   int
	err error
}

// before reports whether file i must still be decoded: no file before it has failed.
func (f *failure) before(i int) bool {
	first := f.first.Load()
	return first == nil || i < first.i
}

func (f *failure) keep(i int, err error) {
	for {
		first := f.first.Load()
		if first != nil && first.i <= i || f.first.CompareAndSwap(first, &failedFile{i, err}) {
			return
		}
	}
}

func (f *failure) err() error {
	if first := f.first.Load(); first != nil {
		return first.err
	}
	return nil
}
