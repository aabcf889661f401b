package imagebatch

import (
	"image"
	"image/color"
	"image/draw"
)

// A picture is the planes of an image: one of gray, or three in a space of colours.
type picture struct {
	planes []plane
	ycbcr  bool // luma and two of chroma, not red, green and blue
}

// A plane is one channel of an image, in the decoder's memory. A plane of lower resolution than the picture may extend
// beyond its right and lower edge: the picture is the box from the first sample to across and down.
type plane struct {
	pix           []byte
	step, stride  int // from a sample to the next in its row, and from a row to the next
	width, height int // in samples
	across, down  float64
}

func newPlane(pix []byte, step, stride, width, height int) plane {
	return plane{pix, step, stride, width, height, float64(width), float64(height)}
}

// planesOf returns the planes of an image: without a copy for the types that decoders return for most files; others are
// drawn first.
func planesOf(img image.Image) picture {
	width, height := img.Bounds().Dx(), img.Bounds().Dy()
	switch img := img.(type) {
	case *image.YCbCr:
		y := newPlane(img.Y, 1, img.YStride, width, height)
		cb, cr := chroma(img, img.Cb), chroma(img, img.Cr)
		return picture{[]plane{y, cb, cr}, true}
	case *image.Gray:
		return picture{[]plane{newPlane(img.Pix, 1, img.Stride, width, height)}, false}
	case *image.RGBA: // decoders return it only for opaque images
		return interleaved(img.Pix, img.Stride, width, height)
	case *image.NRGBA:
		return interleaved(img.Pix, img.Stride, width, height)
	}
	drawn := image.NewNRGBA(image.Rect(0, 0, width, height))
	opaque{drawn}.draw(img)
	return interleaved(drawn.Pix, drawn.Stride, width, height)
}

// chroma returns a chroma plane, which may have fewer samples than the picture has pixels.
func chroma(img *image.YCbCr, pix []byte) plane {
	across, down := 1, 1
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		across = 2
	case image.YCbCrSubsampleRatio420:
		across, down = 2, 2
	case image.YCbCrSubsampleRatio440:
		down = 2
	case image.YCbCrSubsampleRatio411:
		across = 4
	case image.YCbCrSubsampleRatio410:
		across, down = 4, 2
	}
	width, height := img.Rect.Dx(), img.Rect.Dy()
	p := newPlane(pix, 1, img.CStride, (width+across-1)/across, (height+down-1)/down)
	p.across, p.down = float64(width)/float64(across), float64(height)/float64(down)
	return p
}

// interleaved returns the first three of four interleaved channels.
func interleaved(pix []byte, stride, width, height int) (p picture) {
	for c := range 3 {
		p.planes = append(p.planes, newPlane(pix[c:], 4, stride, width, height))
	}
	return p
}

// opaque draws images without their transparency: a transparent pixel has its stored colour.
type opaque struct{ to *image.NRGBA }

func (o opaque) draw(img image.Image) {
	if c, ok := img.(*image.CMYK); ok { // always opaque, and fast in image/draw
		draw.Draw(o.to, o.to.Rect, c, c.Rect.Min, draw.Src)
		return
	}
	at := img.Bounds().Min
	for y := range o.to.Rect.Dy() {
		for x := range o.to.Rect.Dx() {
			o.to.SetNRGBA(x, y, color.NRGBAModel.Convert(img.At(at.X+x, at.Y+y)).(color.NRGBA))
		}
	}
}

// toRGB turns luma and chroma into red, green and blue, in place.
func toRGB(y, cb, cr []byte) {
	cb, cr = cb[:len(y)], cr[:len(y)]
	for i := range y {
		y[i], cb[i], cr[i] = color.YCbCrToRGB(y[i], cb[i], cr[i])
	}
}
