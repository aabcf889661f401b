package imagebatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"godlpack/dlpack"
	"godlpack/tensor"
)

// gradient is a picture in which every channel of every pixel is different, and smooth.
func gradient(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetNRGBA(x, y, color.NRGBA{uint8(x * 255 / width), uint8(y * 255 / height), uint8((x + y) * 255 / (width + height)), 255})
		}
	}
	return img
}

func encoded(t testing.TB, img image.Image, format string) []byte {
	t.Helper()
	var file bytes.Buffer
	err := png.Encode(&file, img)
	if format == "jpeg" {
		file.Reset()
		err = jpeg.Encode(&file, img, &jpeg.Options{Quality: 95})
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func asFiles(files ...[]byte) (views []tensor.Of[uint8]) {
	for _, file := range files {
		view, err := tensor.FromSlice(file, int64(len(file)))
		if err != nil {
			panic(err) // one axis of that length
		}
		views = append(views, view.Of)
	}
	return views
}

func TestPixelsStayWithoutScaling(t *testing.T) {
	img := gradient(31, 17)
	batch, err := DecodeBytes(nil, asFiles(encoded(t, img, "png")), 17, 31)
	if err != nil || !slices.Equal(batch.Shape(), []int64{1, 3, 17, 31}) {
		t.Fatal(batch.Shape(), err)
	}
	for y := range 17 {
		for x := range 31 {
			got := color.NRGBA{batch.At(0, 0, y, x), batch.At(0, 1, y, x), batch.At(0, 2, y, x), 255}
			if got != img.NRGBAAt(x, y) {
				t.Fatalf("(%d, %d): got %v, want %v", x, y, got, img.NRGBAAt(x, y))
			}
		}
	}
}

// All kinds of images give the same gradient, for any layout of their planes.
func TestKindsOfImages(t *testing.T) {
	img := gradient(64, 48)
	want, err := DecodeBytes(nil, asFiles(encoded(t, img, "png")), 30, 20)
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]image.Image{
		"444":     subsampled(img, image.YCbCrSubsampleRatio444),
		"422":     subsampled(img, image.YCbCrSubsampleRatio422),
		"420":     subsampled(img, image.YCbCrSubsampleRatio420),
		"440":     subsampled(img, image.YCbCrSubsampleRatio440),
		"411":     subsampled(img, image.YCbCrSubsampleRatio411),
		"410":     subsampled(img, image.YCbCrSubsampleRatio410),
		"rgba":    drawn(image.NewRGBA(img.Rect), img),
		"nrgba64": drawn(image.NewNRGBA64(img.Rect), img),
		"cmyk":    drawn(image.NewCMYK(img.Rect), img),
	} {
		got := scaled(planesOf(other), 30, 20)
		if d := largestDifference(got, want.Slice()); d > 5 {
			t.Errorf("%s differs by %d", name, d)
		}
	}
}

func scaled(p picture, height, width int) []byte {
	to := make([]byte, 3*height*width)
	new(Decoder).fill(p, height, width, to)
	return to
}

type canvas interface {
	image.Image
	Set(x, y int, c color.Color)
}

func drawn(to canvas, img image.Image) image.Image {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			to.Set(x, y, img.At(x, y))
		}
	}
	return to
}

// subsampled takes the chroma from a pixel in the middle of those that share it.
func subsampled(img *image.NRGBA, ratio image.YCbCrSubsampleRatio) *image.YCbCr {
	to := image.NewYCbCr(img.Rect, ratio)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			c := img.NRGBAAt(x, y)
			luma, cb, cr := color.RGBToYCbCr(c.R, c.G, c.B)
			to.Y[to.YOffset(x, y)] = luma
			if at := to.COffset(x, y); to.Cb[at] == 0 || to.COffset(max(0, x-1), y) != at || x%4 == 2 {
				to.Cb[at], to.Cr[at] = cb, cr
			}
		}
	}
	return to
}

func largestDifference(a, b []byte) (most int) {
	for i := range a {
		most = max(most, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return most
}

func TestGray(t *testing.T) {
	gray := drawn(image.NewGray(image.Rect(0, 0, 9, 9)), gradient(9, 9))
	batch, err := DecodeBytes(nil, asFiles(encoded(t, gray, "png"), encoded(t, gray, "jpeg")), 9, 9)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		red, green, blue := batch.Slice()[i*243:][:81], batch.Slice()[i*243+81:][:81], batch.Slice()[i*243+162:][:81]
		if !slices.Equal(red, green) || !slices.Equal(red, blue) || largestDifference(red, gray.(*image.Gray).Pix) > 4 {
			t.Errorf("picture %d: %v %v %v", i, red, green, blue)
		}
	}
}

func TestOnePixel(t *testing.T) {
	for _, format := range []string{"png", "jpeg"} {
		batch, err := DecodeBytes(nil, asFiles(encoded(t, gradient(1, 1), format)), 5, 7)
		if err != nil || largestDifference(batch.Slice(), make([]byte, 105)) > 2 {
			t.Errorf("%s: %v %v", format, batch.Slice(), err)
		}
	}
}

func TestDecodeKeepsTheOrder(t *testing.T) {
	var paths []string
	folder := t.TempDir()
	for i := range 40 {
		img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
		for at := range img.Pix {
			img.Pix[at] = uint8(i)
		}
		paths = append(paths, filepath.Join(folder, fmt.Sprint(i, ".png")))
		if err := os.WriteFile(paths[i], encoded(t, img, "png"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	batch, err := Decode(nil, paths, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range paths {
		if got := batch.At(i, 2, 3, 3); got != uint8(i) {
			t.Errorf("picture %d is picture %d", i, got)
		}
	}
}

func TestBadFiles(t *testing.T) {
	good := encoded(t, gradient(40, 40), "jpeg")
	damaged := encoded(t, gradient(4, 4), "png")
	damaged[len(damaged)/2] ^= 1
	for _, test := range []struct {
		files [][]byte
		want  string
	}{
		{[][]byte{good, []byte("GIF89a")}, "decode_bytes(): files[1]: neither JPEG nor PNG"},
		{[][]byte{{}}, "decode_bytes(): files[0]: neither JPEG nor PNG"},
		{[][]byte{good, good[:len(good)/2], nil}, "decode_bytes(): files[1]: unexpected EOF"},
		{[][]byte{damaged}, "decode_bytes(): files[0]: "},
		{[][]byte{bomb(t)}, "decode_bytes(): files[0]: want at most 178956970 pixels, got 65536 x 65536"},
	} {
		_, err := DecodeBytes(nil, asFiles(test.files...), 8, 8)
		wantValueError(t, err, test.want)
	}
	_, err := Decode(nil, []string{filepath.Join(t.TempDir(), "missing.jpg")}, 8, 8)
	wantValueError(t, err, "no such file or directory")
	wantValueError(t, err, "decode(): paths[0], ")
}

// Both decoders give the same, for each edge of the blocks that files consist of.
func TestTurbo(t *testing.T) {
	if !hasTurbo() {
		t.Skip("libjpeg-turbo is not installed")
	}
	var d Decoder
	for _, size := range [][2]int{{1, 1}, {2, 3}, {15, 17}, {16, 16}, {33, 8}, {500, 375}} {
		rgb, gray := gradient(size[0], size[1]), image.NewGray(image.Rect(0, 0, size[0], size[1]))
		draw.Draw(gray, gray.Rect, rgb, image.Point{}, draw.Src)
		for _, img := range []image.Image{rgb, gray} {
			file := encoded(t, img, "jpeg")
			p, err := d.picture(file)
			if err != nil || d.turbo == nil {
				t.Fatal(err)
			}
			plain, err := jpeg.Decode(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range [][2]int{{1, 1}, {size[1], size[0]}, {20, 31}, {3, 700}} {
				if off := largestDifference(scaled(p, to[0], to[1]), scaled(planesOf(plain), to[0], to[1])); off > 3 {
					t.Errorf("%v of %T to %v: differ by %d", size, img, to, off)
				}
			}
		}
	}
}

// Each of many damaged files is decoded, or is an error.
func TestDamagedFiles(t *testing.T) {
	good := encoded(t, gradient(50, 40), "jpeg")
	random := rand.New(rand.NewPCG(1, 2))
	d, to := new(Decoder), make([]byte, 3*20*20)
	refused := 0
	for range 2000 {
		file := slices.Clone(good)
		for range 1 + random.IntN(3) {
			file[random.IntN(len(file))] = byte(random.IntN(256))
		}
		if d.Decode(file[:len(file)-random.IntN(2)*random.IntN(len(file))], 20, 20, to) != nil {
			refused++
		}
	}
	if refused < 500 {
		t.Errorf("%d of 2000 were refused", refused)
	}
}

// bomb returns a small file whose header gives a large size.
func bomb(t *testing.T) []byte {
	file := encoded(t, gradient(4, 4), "png")
	header := file[12:29] // the type of the first chunk, and width, height and more
	copy(header[4:], []byte{0, 1, 0, 0, 0, 1, 0, 0})
	binary.BigEndian.PutUint32(file[29:], crc32.ChecksumIEEE(header))
	return file
}

func TestBadSizes(t *testing.T) {
	for _, size := range [][2]int{{0, 5}, {5, -1}, {65536, 5}} {
		_, err := Decode(nil, nil, size[0], size[1])
		wantValueError(t, err, fmt.Sprintf("decode(): want a height and a width of 1 to 65535, got %d and %d", size[0], size[1]))
	}
}

func wantValueError(t *testing.T, err error, text string) {
	t.Helper()
	var e *dlpack.Error
	if !errors.As(err, &e) || e.Kind != dlpack.KindValue || !strings.Contains(e.Msg, text) {
		t.Errorf("got %v, want a ValueError with %q", err, text)
	}
}

func BenchmarkDecode(b *testing.B) {
	file := encoded(b, gradient(500, 375), "jpeg")
	files := asFiles(slices.Repeat([][]byte{file}, 32)...)
	for b.Loop() {
		if _, err := DecodeBytes(nil, files, 224, 224); err != nil {
			b.Fatal(err)
		}
	}
}
