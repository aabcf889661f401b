package imagebatch

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // registers the format
	_ "image/png"  // registers the format
)

// mostPixels is the limit from which Pillow, too, refuses a file as a decompression bomb: half a gigabyte of RGB.
const mostPixels = (1 << 29) / 3

// DecoderName returns what decodes JPEG files on this machine: "libjpeg-turbo", or "image/jpeg", Go's own.
//
//godlpack:export
func DecoderName() string {
	if hasTurbo() {
		return "libjpeg-turbo"
	}
	return "image/jpeg"
}

// A Decoder decodes one picture after the other, in memory that it keeps. Each goroutine needs its own.
type Decoder struct {
	workspace
	turbo *turboDecoder
}

// Decode decodes a JPEG or PNG file, and scales it into three planes of height x width bytes: red, green and blue.
func (d *Decoder) Decode(file []byte, height, width int, to []byte) error {
	p, err := d.picture(file)
	if err != nil {
		return err
	}
	d.fill(p, height, width, to)
	return nil
}

// picture decodes a file; it refuses one whose header gives too large a size.
func (d *Decoder) picture(file []byte) (p picture, err error) {
	if bytes.HasPrefix(file, []byte("\xff\xd8")) && hasTurbo() {
		if d.turbo == nil {
			d.turbo = newTurboDecoder()
		}
		if d.turbo != nil {
			if p, ok := d.turbo.decode(file); ok {
				return p, nil
			}
		}
	}
	header, _, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case errors.Is(err, image.ErrFormat):
		return p, errors.New("neither JPEG nor PNG")
	case err != nil:
		return p, err
	}
	if err := checkSize(header.Width, header.Height); err != nil {
		return p, err
	}
	img, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return p, err
	}
	return planesOf(img), nil
}

func checkSize(width, height int) error {
	if width*height > mostPixels {
		return fmt.Errorf("want at most %d pixels, got %d x %d", mostPixels, width, height)
	}
	return nil
}

// fill scales a picture into its place: three planes.
func (d *Decoder) fill(p picture, height, width int, to []byte) {
	size := height * width
	for c, plane := range p.planes {
		d.resample(plane, to[c*size:(c+1)*size], height, width)
	}
	switch {
	case len(p.planes) == 1: // gray
		copy(to[size:], to[:size])
		copy(to[2*size:], to[:size])
	case p.ycbcr:
		toRGB(to[:size], to[size:2*size], to[2*size:])
	}
}
