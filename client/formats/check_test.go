package formats

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"math/rand"
	"strings"
	"testing"

	"golang.org/x/image/bmp"

	"transect/testdata/tiffgen"
)

func damageOf(name string, b []byte) (string, error) {
	return Damage(context.Background(), File{Name: name, Data: bytes.NewReader(b), Size: int64(len(b))})
}

// noise returns a picture that cannot be compressed.
func noise() image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, 150, 100))
	rand.New(rand.NewSource(2)).Read(m.Pix)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	return m
}

func TestDamage(t *testing.T) {
	raster := func(compression int, m tiffgen.Image) []byte {
		m.Width, m.Height, m.Bands, m.Photometric, m.Compression = 90, 70, 3, 2, compression
		r := rand.New(rand.NewSource(2))
		m.Value = func(int, int, int) float64 { return float64(r.Intn(256)) }
		return tiffgen.File(tiffgen.Options{}, m)
	}
	files := map[string][]byte{
		"a.tif": raster(tiffgen.Deflate, tiffgen.Image{Rows: 8}), "b.tif": raster(tiffgen.Deflate, tiffgen.Image{TileW: 32, TileH: 32}),
		"c.tif": raster(tiffgen.JPEG, tiffgen.Image{TileW: 32, TileH: 32}),
		"d.tif": raster(tiffgen.Deflate, tiffgen.Image{TileW: 32, TileH: 16, Planar: true}),
	}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"a.jpg": func(b *bytes.Buffer) error { return jpeg.Encode(b, noise(), nil) },
		"a.png": func(b *bytes.Buffer) error { return png.Encode(b, noise()) },
		"a.gif": func(b *bytes.Buffer) error { return gif.Encode(b, noise(), nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	for name, whole := range files {
		if damage, err := damageOf(name, whole); damage != "" || err != nil {
			t.Errorf("%s: %s, %v", name, damage, err)
		}
		middle := len(whole) / 2
		changed := bytes.Clone(whole)
		clear(changed[middle : middle+300])
		if damage, err := damageOf(name, changed); err != nil || damage == "" && name != "a.gif" {
			t.Errorf("%s, 300 bytes zero: %q, %v", name, damage, err)
		}
		short := append(bytes.Clone(whole[:middle]), whole[middle+300:]...)
		if damage, err := damageOf(name, short); damage == "" && err == nil {
			t.Errorf("%s, 300 bytes missing: it passes", name)
		}
	}
}

// TestDamageUndecided covers files that are not decoded, which shows nothing about them.
func TestDamageUndecided(t *testing.T) {
	var picture bytes.Buffer
	if err := bmp.Encode(&picture, noise()); err != nil {
		t.Fatal(err)
	}
	zstd := tiffgen.File(tiffgen.Options{}, tiffgen.Image{Width: 9, Height: 9, Extra: []tiffgen.Field{
		{Tag: 259, Kind: 3, Numbers: []float64{50000}}}})
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"notes.txt": {[]byte("wind from the west"), ErrNone.Error()},
		"zstd.tif":  {zstd, "ZSTD compression is not supported"},
		"large.png": {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x06\x00\x00\x00\x6c\x84\x30\xe3"), "too large"},
		"empty.bmp": {picture.Bytes()[:0], ""},
	} {
		damage, err := damageOf(name, c.b)
		if damage != "" || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v, want %s", name, damage, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if damage, err := Damage(ended, File{Name: "a.bmp", Data: bytes.NewReader(picture.Bytes()), Size: int64(picture.Len())}); damage != "" ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("ended: %q, %v", damage, err)
	}
}

// broken is a file on a card with an unreadable middle.
type broken struct{ *bytes.Reader }

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > b.Size()/2 && at < b.Size()/2 {
		return 0, &fs.PathError{Op: "read", Path: "a.jpg", Err: errors.New("input/output error")}
	}
	return b.Reader.ReadAt(p, at)
}

func TestDamageUnread(t *testing.T) {
	b := encoded(quarters(3000, 2000), 1, nil)
	var unread *fs.PathError
	damage, err := Damage(context.Background(), File{Name: "a.jpg", Data: broken{bytes.NewReader(b)}, Size: int64(len(b))})
	if damage != "" || !errors.As(err, &unread) {
		t.Errorf("%q, %v", damage, err)
	}
}
