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

// decode decodes a file; it refuses one whose header gives too large a size.
func decode(file []byte) (image.Image, error) {
	header, _, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case errors.Is(err, image.ErrFormat):
		return nil, errors.New("neither JPEG nor PNG")
	case err != nil:
		return nil, err
	case header.Width*header.Height > mostPixels:
		return nil, fmt.Errorf("want at most %d pixels, got %d x %d", mostPixels, header.Width, header.Height)
	}
	img, _, err := image.Decode(bytes.NewReader(file))
	return img, err
}
