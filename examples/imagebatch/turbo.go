package imagebatch

import (
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
)

// turbo is the C library libjpeg-turbo, where the machine has it: it decodes by SIMD, in half the time that image/jpeg takes.
// The functions are those of the TurboJPEG API of version 2, which version 3 has, too.
var turbo struct {
	open   func() uintptr
	header func(handle uintptr, file *byte, size uintptr, width, height, subsampling, colours *int32) int32
	planes func(handle uintptr, file *byte, size uintptr, planes **byte, width int32, strides *int32, height, flags int32) int32
	close  func(handle uintptr) int32
}

// hasTurbo loads libjpeg-turbo at its first call, and reports whether it is there.
var hasTurbo = sync.OnceValue(func() bool {
	name := map[string]string{"darwin": "libturbojpeg.dylib", "linux": "libturbojpeg.so.0"}[runtime.GOOS]
	library, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if name == "" || err != nil {
		return false
	}
	for name, function := range map[string]any{
		"tjInitDecompress": &turbo.open, "tjDecompressHeader3": &turbo.header, "tjDecompressToYUVPlanes": &turbo.planes,
		"tjDestroy": &turbo.close,
	} {
		if _, err := purego.Dlsym(library, name); err != nil {
			return false
		}
		purego.RegisterLibFunc(function, library, name)
	}
	return true
})

// Of libjpeg-turbo's turbojpeg.h.
const (
	coloursYCbCr, coloursGray = 1, 2 // TJCS
	accurate                  = 4096 // TJFLAG_ACCURATEDCT, which Pillow uses, too
)

// chromaSamples are how many pixels a sample of chroma covers across and down, by TJSAMP; gray files have none.
var chromaSamples = [...]struct{ across, down int }{{1, 1}, {2, 1}, {2, 2}, {0, 0}, {1, 2}, {4, 1}, {1, 4}}

// A turboDecoder decodes JPEG files into memory of its own, which the next file takes.
type turboDecoder struct {
	handle uintptr
	file   []byte // its own copy: if another thread changed the file between its header and its planes, these would not fit
	memory [3][]byte
}

// newTurboDecoder returns nil if there is no memory.
func newTurboDecoder() *turboDecoder {
	handle := turbo.open()
	if handle == 0 {
		return nil
	}
	d := &turboDecoder{handle: handle}
	runtime.AddCleanup(d, func(handle uintptr) { turbo.close(handle) }, handle)
	return d
}

// decode returns the planes of a file, of luma and chroma as they are stored, or of gray. It leaves files of other colours to
// image/jpeg, and also those that libjpeg-turbo would decode with a warning: of a file that ends early the rest would be gray.
func (d *turboDecoder) decode(file []byte) (p picture, ok bool) {
	defer runtime.KeepAlive(d)
	d.file = append(d.file[:0], file...)
	begin, size := &d.file[0], uintptr(len(d.file))
	var width, height, subsampling, colours int32
	if turbo.header(d.handle, begin, size, &width, &height, &subsampling, &colours) != 0 {
		return p, false
	}
	if colours != coloursYCbCr && colours != coloursGray || subsampling < 0 || int(subsampling) >= len(chromaSamples) ||
		checkSize(int(width), int(height)) != nil {
		return p, false
	}
	p, places, strides := d.layout(int(width), int(height), int(subsampling), colours == coloursYCbCr)
	var pinner runtime.Pinner // the array refers to Go's memory
	defer pinner.Unpin()
	for _, place := range places {
		if place != nil {
			pinner.Pin(place)
		}
	}
	return p, turbo.planes(d.handle, begin, size, &places[0], width, &strides[0], height, accurate) == 0
}

// layout describes the planes of a picture in the decoder's memory, to this package and to libjpeg-turbo.
func (d *turboDecoder) layout(width, height, subsampling int, ycbcr bool) (p picture, places [3]*byte, strides [3]int32) {
	sample := chromaSamples[subsampling]
	if !ycbcr {
		sample.across, sample.down = 1, 1
	}
	padded := func(n, of int) int { return (n + of - 1) / of * of }
	for c := range 3 {
		if c > 0 && !ycbcr {
			break
		}
		across, down := 1, 1
		if c > 0 {
			across, down = sample.across, sample.down
		}
		stride, rows := padded(width, sample.across)/across, padded(height, sample.down)/down
		d.memory[c] = grown(d.memory[c], stride*rows)
		places[c], strides[c] = &d.memory[c][0], int32(stride)
		plane := newPlane(d.memory[c], 1, stride, (width+across-1)/across, (height+down-1)/down)
		plane.across, plane.down = float64(width)/float64(across), float64(height)/float64(down)
		p.planes = append(p.planes, plane)
	}
	p.ycbcr = ycbcr
	return p, places, strides
}
