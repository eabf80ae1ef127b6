package jpegcheck

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files in testdata are of one picture by libjpeg: cjpeg -quality 75 with -restart,
// -progressive, -optimize, -sample, -scans, -grayscale and -arithmetic.

func check(b []byte) error {
	return Check(context.Background(), bytes.NewReader(b), func(int64) error { return nil })
}

// landscape returns a picture with noise, encoded by image/jpeg.
func landscape(w, h int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	noise := rand.New(rand.NewSource(1))
	for y := range h {
		for x := range w {
			v := 110 + 80*math.Sin(float64(x)/17)*math.Cos(float64(y)/23) + float64(noise.Intn(30))
			m.Set(x, y, color.RGBA{uint8(v), uint8(v*0.8 + 20), uint8(v / 2), 255})
		}
	}
	var b bytes.Buffer
	jpeg.Encode(&b, m, nil)
	return b.Bytes()
}

// photo returns a camera's file of a picture: preceded by a record with a thumbnail, followed by a
// second picture and other bytes.
func photo(picture []byte) []byte {
	thumbnail := append([]byte("Exif\x00\x00"), landscape(64, 48)...)
	segment := binary.BigEndian.AppendUint16([]byte{0xFF, 0xE1}, uint16(2+len(thumbnail)))
	whole := append([]byte{0xFF, soi}, append(segment, thumbnail...)...)
	whole = append(whole, picture[2:]...)
	return append(append(whole, landscape(80, 60)...), "trailer\xFF\xD8\xFF"...)
}

// pictures are whole pictures of every supported coding.
func pictures(t testing.TB) map[string][]byte {
	all := map[string][]byte{"baseline": landscape(300, 200), "camera": photo(landscape(300, 200))}
	files, _ := filepath.Glob("testdata/*.jpg")
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name = strings.TrimSuffix(filepath.Base(name), ".jpg"); name != "arithmetic" {
			all[name] = b
		}
	}
	if len(all) != 8 {
		t.Fatalf("there are %d pictures", len(all))
	}
	return all
}

func TestWholePicturesPass(t *testing.T) {
	for name, b := range pictures(t) {
		if err := check(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRealPhotosPass reads the shared photos, if present.
func TestRealPhotosPass(t *testing.T) {
	files, _ := filepath.Glob("../../../../shared/data/images/*/*.[jJ][pP][gG]")
	if len(files) == 0 {
		t.Skip("the shared data are not here")
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		err = check(b)
		if broken := filepath.Base(name) == "corrupt-huge-tag.jpg"; (err != nil) != broken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// damages are typical effects of cards, cables and copies on files.
var damages = []struct {
	name  string
	least float64 // share that must be found
	apply func(r *rand.Rand, b []byte, from, to int) []byte
}{
	{"512 bytes missing", 1, func(r *rand.Rand, b []byte, from, to int) []byte {
		at := from + r.Intn(to-from-512)
		return append(b[:at], b[at+512:]...)
	}},
	{"512 bytes zero", 0.93, func(r *rand.Rand, b []byte, from, to int) []byte {
		at := from + r.Intn(to-from-512)
		clear(b[at : at+512])
		return b
	}},
	{"512 bytes of something else", 0.99, func(r *rand.Rand, b []byte, from, to int) []byte {
		at := from + r.Intn(to-from-512)
		r.Read(b[at : at+512])
		return b
	}},
	{"2048 bytes of elsewhere", 0.8, func(r *rand.Rand, b []byte, from, to int) []byte {
		at, other := from+r.Intn(to-from-2048), from+r.Intn(to-from-2048)
		if other == at {
			other = from
		}
		copy(b[at:at+2048], bytes.Clone(b[other:other+2048]))
		return b
	}},
	{"a changed byte", 0.15, func(r *rand.Rand, b []byte, from, to int) []byte {
		b[from+r.Intn(to-from)] ^= byte(1 + r.Intn(255))
		return b
	}},
}

func TestDamageIsFound(t *testing.T) {
	for name, whole := range pictures(t) {
		from := bytes.LastIndex(whole[:len(whole)/2], []byte{0xFF, sos}) + 20
		to := bytes.Index(whole[from:], []byte{0xFF, eoi}) + from
		for _, d := range damages {
			r := rand.New(rand.NewSource(5))
			const tries = 200
			found := 0
			for range tries {
				var damage *Damage
				err := check(d.apply(r, bytes.Clone(whole), from, to))
				if errors.As(err, &damage) || errors.Is(err, ErrUnsupported) {
					found++
				} else if err != nil {
					t.Errorf("%s, %s: %v", name, d.name, err)
				}
			}
			share := float64(found) / tries
			t.Logf("%s, %s: %.1f %% found", name, d.name, 100*share)
			if share < d.least {
				t.Errorf("%s, %s: %.1f %% found, want %.1f %%", name, d.name, 100*share, 100*d.least)
			}
		}
	}
}

// TestCuts reads every beginning of a picture.
func TestCuts(t *testing.T) {
	for name, whole := range pictures(t) {
		end := bytes.LastIndex(whole, []byte{0xFF, eoi})
		if name == "camera" {
			end = bytes.Index(whole[4000:], []byte{0xFF, eoi}) + 4000
		}
		for n := 0; n < end; n += 7 {
			var damage *Damage
			if err := check(whole[:n]); !errors.As(err, &damage) {
				t.Fatalf("%s cut to %d bytes of %d: %v", name, n, len(whole), err)
			}
		}
	}
}

func TestMessages(t *testing.T) {
	b := landscape(300, 200)
	middle := len(b) / 2
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{[]byte("not a picture"), "does not start"},
		{b[:middle], "% down from its top: pixel data is missing"},
		{append(b[:middle:middle], b[middle+2000:]...), "% down from its top"},
		{append(append(b[:len(b)-2:len(b)-2], "left over"...), 0xFF, eoi), "top: 9 bytes of pixel data are left over"},
		{append(b[:20:20], b[30:]...), "a quantization table is invalid"},
	} {
		if err := check(c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestPadding accepts the padding of some cameras.
func TestPadding(t *testing.T) {
	b := landscape(300, 200)
	for _, padding := range []string{"\x00", "\x00\x00\x00", "\xFF", "\xFF\xFF\xFF"} {
		padded := append(append(b[:len(b)-2:len(b)-2], padding...), 0xFF, eoi)
		if err := check(padded); err != nil {
			t.Errorf("%x: %v", padding, err)
		}
	}
}

func TestUnsupported(t *testing.T) {
	b, err := os.ReadFile("testdata/arithmetic.jpg")
	if err != nil {
		t.Fatal(err)
	}
	if err := check(b); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}

type failing struct{ io.Reader }

var errCard = errors.New("input/output error")

func (f failing) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err == io.EOF {
		err = errCard
	}
	return n, err
}

func TestErrorsOfTheReader(t *testing.T) {
	b := landscape(300, 200)
	none := func(int64) error { return nil }
	if err := Check(context.Background(), failing{bytes.NewReader(b[:9000])}, none); err != errCard {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Check(ended, bytes.NewReader(b), none); err != context.Canceled {
		t.Error(err)
	}
	progressive := pictures(t)["progressive"]
	var asked int64
	err := Check(context.Background(), bytes.NewReader(progressive), func(n int64) error { asked += n; return errCard })
	if err != errCard || asked > 301*203/2 {
		t.Error(err, asked)
	}
}

// FuzzCheck compares with image/jpeg, which is less strict: anything it refuses must not pass.
func FuzzCheck(f *testing.F) {
	for _, b := range pictures(f) {
		f.Add(b, 1000, uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, at int, change uint8) {
		if at >= 0 && at < len(b) {
			b = bytes.Clone(b)
			b[at] ^= change
		}
		tooLarge := errors.New("too large")
		err := Check(context.Background(), bytes.NewReader(b), func(n int64) error {
			if n > 1<<20 {
				return tooLarge
			}
			return nil
		})
		var damage *Damage
		if err != nil && !errors.As(err, &damage) && !errors.Is(err, ErrUnsupported) && err != tooLarge {
			t.Fatal(err)
		}
		config, other := jpeg.DecodeConfig(bytes.NewReader(b))
		if err != nil || other != nil || config.Width*config.Height > 1<<20 {
			return
		}
		var unsupported jpeg.UnsupportedError
		if _, other = jpeg.Decode(bytes.NewReader(b)); other != nil && !errors.As(other, &unsupported) {
			t.Fatalf("it passes, and image/jpeg says %v", other)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for _, name := range []string{"baseline", "progressive"} {
		picture := pictures(b)[name]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(picture)))
			for b.Loop() {
				if err := check(picture); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
