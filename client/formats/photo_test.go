package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shared = "../../../shared/data"

func init() { showPanics = true }

// sample reads a file of the shared data, or skips the test.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(shared, name))
	if err != nil {
		t.Skip("the shared data are not here: ", err)
	}
	return b
}

// show draws a file in memory.
func show(t testing.TB, name string, b []byte, side int, beside ...File) (image.Image, error) {
	t.Helper()
	return Picture(context.Background(), File{Name: name, Data: bytes.NewReader(b), Size: int64(len(b))}, side, beside...)
}

// quarters returns a picture whose upper left quarter is red, upper right green, lower left blue
// and lower right white.
func quarters(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i, c := range []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}} {
		draw.Draw(m, image.Rect(i%2*w/2, i/2*h/2, (i%2+1)*w/2, (i/2+1)*h/2), image.NewUniform(c), image.Point{}, draw.Src)
	}
	return m
}

// encoded returns a JPEG with an EXIF record of one orientation and, unless it is nil, a thumbnail.
func encoded(m image.Image, orientation uint16, thumbnail []byte) []byte {
	var b bytes.Buffer
	jpeg.Encode(&b, m, nil)
	le := binary.LittleEndian
	record := []byte("II*\x00\x08\x00\x00\x00")
	record = le.AppendUint16(record, 1)
	record = append(record, 0x12, 1, 3, 0, 1, 0, 0, 0)
	record = le.AppendUint32(record, uint32(orientation))
	record = le.AppendUint32(record, 26) // the next directory
	record = le.AppendUint16(record, 2)
	record = append(record, 1, 2, 4, 0, 1, 0, 0, 0)
	record = le.AppendUint32(record, 56)
	record = append(record, 2, 2, 4, 0, 1, 0, 0, 0)
	record = le.AppendUint32(record, uint32(len(thumbnail)))
	record = append(record, 0, 0, 0, 0)
	record = append(record, thumbnail...)
	out := []byte{0xFF, 0xD8, 0xFF, 0xE1}
	out = binary.BigEndian.AppendUint16(out, uint16(8+len(record)))
	out = append(append(out, "Exif\x00\x00"...), record...)
	return append(out, b.Bytes()[2:]...)
}

// corners names the colours of the corners, as rows from the top.
func corners(m image.Image) string {
	b := m.Bounds()
	var s strings.Builder
	for _, y := range []int{b.Min.Y + b.Dy()/4, b.Min.Y + 3*b.Dy()/4} {
		for _, x := range []int{b.Min.X + b.Dx()/4, b.Min.X + 3*b.Dx()/4} {
			r, g, b, _ := m.At(x, y).RGBA()
			s.WriteByte("?rgwb"[map[[3]bool]int{{true, false, false}: 1, {false, true, false}: 2, {true, true, true}: 3,
				{false, false, true}: 4}[[3]bool{r > 1<<15, g > 1<<15, b > 1<<15}]])
		}
	}
	return s.String()
}

func TestPhotosAreUpright(t *testing.T) {
	for orientation, want := range []string{"rgbw", "rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb", "rgbw"} {
		m, err := show(t, "a.jpg", encoded(quarters(80, 40), uint16(orientation), nil), 20)
		if err != nil {
			t.Fatal(err)
		}
		size := image.Pt(20, 10)
		if orientation >= 5 && orientation <= 8 {
			size = image.Pt(10, 20)
		}
		if got := corners(m); got != want || m.Bounds().Size() != size {
			t.Errorf("orientation %d: %s %v, want %s %v", orientation, got, m.Bounds().Size(), want, size)
		}
	}
}

func TestThumbnails(t *testing.T) {
	green := image.NewUniform(color.RGBA{0, 255, 0, 255})
	thumbnail := func(area image.Rectangle) []byte {
		m := image.NewRGBA(image.Rect(0, 0, 160, 120))
		draw.Draw(m, m.Bounds(), image.Black, image.Point{}, draw.Src)
		draw.Draw(m, area, green, image.Point{}, draw.Src)
		var b bytes.Buffer
		jpeg.Encode(&b, m, nil)
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		photo     image.Point
		thumbnail []byte
		side      int
		used      bool
	}{
		"same shape":         {image.Pt(400, 300), thumbnail(image.Rect(0, 0, 160, 120)), 100, true},
		"too small":          {image.Pt(400, 300), thumbnail(image.Rect(0, 0, 160, 120)), 300, false},
		"black bars":         {image.Pt(400, 200), thumbnail(image.Rect(0, 20, 160, 100)), 100, true},
		"other shape":        {image.Pt(400, 200), thumbnail(image.Rect(0, 0, 160, 120)), 100, false},
		"turned":             {image.Pt(100, 300), thumbnail(image.Rect(0, 0, 160, 120)), 100, false},
		"larger than itself": {image.Pt(80, 60), thumbnail(image.Rect(0, 0, 160, 120)), 50, false},
		"damaged":            {image.Pt(400, 300), []byte("\xff\xd8 no picture"), 100, false},
	} {
		m, err := show(t, "a.jpg", encoded(quarters(c.photo.X, c.photo.Y), 1, c.thumbnail), c.side)
		if err != nil {
			t.Error(name, err)
		} else if got := corners(m); (got == "gggg") != c.used {
			t.Errorf("%s: %s", name, got)
		} else if b := m.Bounds(); b.Dx()*c.photo.Y/b.Dy() < c.photo.X*9/10 || b.Dx()*c.photo.Y/b.Dy() > c.photo.X*11/10 {
			t.Errorf("%s: %v is not of the shape %v", name, b, c.photo)
		}
	}
	// The remains of a truncated photo.
	whole := encoded(quarters(400, 300), 1, thumbnail(image.Rect(0, 0, 160, 120)))
	m, err := show(t, "a.jpg", whole[:len(whole)-200], 300)
	if err != nil || m.Bounds().Dx() != 160 {
		t.Error(m, err)
	}
}

func TestSharedPhotos(t *testing.T) {
	for _, name := range []string{"dji-brighton-original/DJI_0018.JPG", "sequoia-garfield/IMG_161122_163234_0000_NIR.TIF", "varied/htc-desire.webp"} {
		for _, side := range []int{100, 500} {
			m, err := show(t, name, sample(t, "images/"+name), side)
			if err != nil {
				t.Error(err)
			} else if b := m.Bounds(); max(b.Dx(), b.Dy()) != side {
				t.Error(name, side, b)
			}
		}
	}
}

func TestWhyThereIsNoPreview(t *testing.T) {
	whole := encoded(quarters(80, 60), 1, nil)
	bomb := bytes.Replace(whole, []byte{8, 0, 60, 0, 80}, []byte{8, 0xFF, 0xFF, 0xFF, 0xFF}, 1)
	for want, b := range map[string][]byte{
		"the file is empty":                           {},
		"files of this kind are not supported":        []byte("\x00\x00\x00\x20ftypmp42"),
		"the end of the image is missing":             whole[:len(whole)-30],
		"too large to be shown: 65535 x 65535 pixels": bomb,
	} {
		if m, err := show(t, "a.jpg", b, 20); err == nil || !strings.Contains(err.Error(), "a.jpg: there is no preview: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v %v, want %s", m, err, want)
		}
	}
	if _, err := show(t, "a.mp4", []byte("abc"), 20); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Picture(stopped, File{Name: "a.jpg", Data: bytes.NewReader(whole), Size: int64(len(whole))}, 20); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
