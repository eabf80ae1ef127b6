package imagery_test

import (
	"context"
	"errors"
	"image"
	"image/png"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/formats/imagery"
	"transect/testdata/flightgen"
)

// flight makes a flight of n photos in a new folder.
func flight(t *testing.T, n int, opt flightgen.Options) string {
	t.Helper()
	dir := t.TempDir()
	if err := flightgen.Write(dir, n, opt); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, content []byte, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestScan(t *testing.T) {
	opt := flightgen.Options{}
	dir := flight(t, 12, opt)
	survey, err := imagery.Scan(t.Context(), dir, imagery.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	shots := flightgen.Shots(12, opt)
	var bytes int64
	for i, p := range survey.Photos {
		if filepath.Base(p.Path) != shots[i].Name {
			t.Errorf("photo %d is %s", i, p.Path)
		}
		bytes += p.Size
	}
	if len(survey.Photos) != 12 || len(survey.Problems) != 0 || survey.Bytes != bytes {
		t.Errorf("%d photos, %d bytes, problems %v", len(survey.Photos), survey.Bytes, survey.Problems)
	}
	if !survey.Date.Equal(shots[0].Acquired) {
		t.Errorf("date %v", survey.Date)
	}
	// Twelve photos in two strips of 50 m, 14 m apart, each 43 m by 32 m.
	if want := (50 + 32.4) * (14 + 43.3); math.Abs(survey.Area-want) > want/50 {
		t.Errorf("area %.0f, want about %.0f", survey.Area, want)
	}
}

func TestScanNamesEveryProblem(t *testing.T) {
	dir := flight(t, 8, flightgen.Options{WithoutPosition: []int{2}})
	name := func(i int) string { return flightgen.Shots(8, flightgen.Options{})[i].Name }
	whole := read(t, dir, name(0))
	write(t, nil, dir, name(3))
	write(t, whole[:len(whole)*2/3], dir, name(4))
	write(t, []byte("not a photo at all"), dir, name(5))
	write(t, make([]byte, 5000), dir, name(6))
	write(t, whole, dir, "copy of 1.JPG")
	write(t, []byte("GIF89a and more"), dir, "logo.gif")
	for _, beside := range []string{"notes.txt", ".DS_Store", "._FLIGHT_0001.JPG", "flight.mrk", "video.mp4"} {
		write(t, whole, dir, beside)
	}
	write(t, whole, dir, "below", "FLIGHT_9999.JPG")
	survey, err := imagery.Scan(t.Context(), dir, imagery.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]imagery.Cause{
		name(0): imagery.Duplicate, // "copy of 1" comes first
		name(2): imagery.NoPosition, name(3): imagery.Empty, name(4): imagery.Truncated,
		name(5): imagery.NotImage, name(6): imagery.Damaged, "logo.gif": imagery.Unsupported,
	}
	for _, p := range survey.Problems {
		base := filepath.Base(p.Path)
		if want[base] != p.Cause || p.Message == "" || p.Hint == "" {
			t.Errorf("%+v, want cause %q", p, want[base])
		}
		if p.Cause == imagery.Duplicate && !strings.HasSuffix(p.Message, "copy of 1.JPG") {
			t.Error(p.Message)
		}
		delete(want, base)
	}
	if len(want) != 0 || len(survey.Photos) != 3 {
		t.Errorf("not named: %v; photos %d", want, len(survey.Photos))
	}
	survey, err = imagery.Scan(t.Context(), dir, imagery.ScanOptions{Recursive: true})
	if err != nil || len(survey.Photos) != 3 || len(survey.Problems) != 8 {
		t.Errorf("recursive: %d photos, %d problems, %v", len(survey.Photos), len(survey.Problems), err)
	}
}

func TestScanRefusesFolders(t *testing.T) {
	dir := t.TempDir()
	write(t, []byte("x"), dir, "file.txt")
	write(t, []byte("x"), dir, "parent", "child", "photo.jpg")
	for path, words := range map[string]string{
		filepath.Join(dir, "missing"):         "does not exist",
		filepath.Join(dir, "file.txt"):        "not a folder",
		dir:                                   "has no images",
		filepath.Join(dir, "parent"):          "has no images",
		filepath.Join(dir, "parent", "child"): "",
	} {
		_, err := imagery.Scan(t.Context(), path, imagery.ScanOptions{})
		if words == "" {
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		var file *fault.FileError
		if !errors.As(err, &file) || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), path) || file.Hint == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestScanStops(t *testing.T) {
	ahead := int64(4 * runtime.GOMAXPROCS(0))
	dir := flight(t, int(ahead)+20, flightgen.Options{Width: 32, Height: 32})
	ctx, cancel := context.WithCancel(t.Context())
	var read atomic.Int64
	_, err := imagery.Scan(ctx, dir, imagery.ScanOptions{Tree: files.Tree{View: opening(func() {
		if read.Add(1) == 3 {
			cancel()
		}
	})}})
	if n := read.Load(); n > ahead {
		t.Errorf("read %d photos after being stopped", n-3)
	}
	var cancelled *fault.CancelledError
	if !errors.As(err, &cancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestReadFaults(t *testing.T) {
	dir := t.TempDir()
	write(t, nil, dir, "empty.jpg")
	for path, cause := range map[string]imagery.Cause{
		filepath.Join(dir, "empty.jpg"):   imagery.Empty,
		filepath.Join(dir, "missing.jpg"): imagery.Unreadable,
		dir:                               imagery.NotImage,
	} {
		_, err := imagery.Read(files.Tree{}, path)
		if imagery.CauseOf(err) != cause || fault.Find(err) == nil || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v (%s), want %s", path, err, imagery.CauseOf(err), cause)
		}
	}
	if _, err := imagery.Read(files.Tree{}, filepath.Join(dir, "missing.jpg")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
	if imagery.CauseOf(errors.New("other")) != "" {
		t.Error("a foreign error has a cause")
	}
}

func TestJPEGEndings(t *testing.T) {
	dir := flight(t, 1, flightgen.Options{})
	whole := string(read(t, dir, "FLIGHT_0001.JPG"))
	trailer := strings.Repeat("maker's own record ", 500)
	// A progressive picture has tables between its scans; bytes within them are not markers.
	progressive := "\xff\xd8\xff\xc2\x00\x07\x08\x00\x10\x00\x10\xff\xda\x00\x02scan\xff\x00\xff\xd0 one" +
		"\xff\xc4\x00\x06\xff\xd9\x01\x02\xff\xff\xda\x00\x02scan two"
	// A grey picture of 4,096 x 4,096 pixels in one colour: each of its blocks is two bits 0.
	code := func(class string) string {
		return "\xff\xc4\x00\x14" + class + "\x01" + strings.Repeat("\x00", 15) + "\x00"
	}
	uniform := "\xff\xd8\xff\xdb\x00\x43\x00" + strings.Repeat("\x01", 64) + "\xff\xc0\x00\x0b\x08\x10\x00\x10\x00\x01\x01\x11\x00" +
		code("\x00") + code("\x10") + "\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + strings.Repeat("\x00", 512*512/4) + "\xff\xd9"
	for name, c := range map[string]struct {
		content string
		cause   imagery.Cause
	}{
		"progressive, record":      {progressive + "\xff\xd9" + trailer, ""},
		"progressive, cut":         {progressive, imagery.Truncated},
		"whole":                    {whole, ""},
		"padding":                  {whole + strings.Repeat("\x00", 9000), ""},
		"record behind":            {whole + trailer, ""},
		"mostly padding":           {whole + strings.Repeat("\x00", 900_000), ""},
		"one colour":               {uniform, ""},
		"one colour, cut":          {uniform[:len(uniform)-2], imagery.Damaged},
		"stray bytes":              {whole[:2] + "stray\xff\x00" + whole[2:], ""},
		"second picture":           {whole + whole, ""},
		"second picture, record":   {whole + "\x00\x00" + whole + trailer, ""},
		"second, far behind":       {whole + strings.Repeat("\x00", 5000) + whole[:len(whole)/2], imagery.Truncated},
		"cut second picture":       {whole + whole[:len(whole)/2], imagery.Truncated},
		"second cut in the header": {whole + whole[:100], imagery.Truncated},
		"cut, then a record":       {whole[:len(whole)-2] + trailer, imagery.Truncated},
		"cut, then zeros":          {whole[:len(whole)/2] + strings.Repeat("\x00", 9000), imagery.Truncated},
		"no picture":               {"\xff\xd8\xff\xd9", imagery.Damaged},
		"start only":               {"\xff\xd8", imagery.Truncated},
		"garbage behind the start": {"\xff\xd8 hello", imagery.Damaged},
	} {
		_, err := imagery.ReadFrom(strings.NewReader(c.content), int64(len(c.content)))
		if imagery.CauseOf(err) != c.cause || (err == nil) != (c.cause == "") {
			t.Errorf("%s: %v (%s), want %q", name, err, imagery.CauseOf(err), c.cause)
		}
	}
}

func TestPNG(t *testing.T) {
	var b strings.Builder
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 31, 17))); err != nil {
		t.Fatal(err)
	}
	photo, err := imagery.ReadFrom(strings.NewReader(b.String()), int64(b.Len()))
	if err != nil || photo.Format != imagery.PNG || photo.Width != 31 || photo.Height != 17 || photo.HasPosition {
		t.Errorf("%+v, %v", photo, err)
	}
	for length := 9; length < b.Len(); length++ {
		if _, err := imagery.ReadFrom(strings.NewReader(b.String()), int64(length)); imagery.CauseOf(err) != imagery.Truncated {
			t.Errorf("cut to %d bytes: %v", length, err)
		}
	}
}

// FuzzReadFrom checks that no file makes the reader panic or report nonsense.
func FuzzReadFrom(f *testing.F) {
	dir := f.TempDir()
	if err := flightgen.Write(dir, 2, flightgen.Options{Width: 16, Height: 16, WithoutPosition: []int{1}}); err != nil {
		f.Fatal(err)
	}
	for _, shot := range flightgen.Shots(2, flightgen.Options{}) {
		b, err := os.ReadFile(filepath.Join(dir, shot.Name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		start := strings.Index(string(b), "Exif\x00\x00") + 6
		f.Add(b[start:]) // the bare record is a TIFF file
	}
	f.Add([]byte("RIFF\x1e\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x01\x00\x00EXIF\x00\x00\x00\x00"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		photo, err := imagery.ReadFrom(strings.NewReader(string(content)), int64(len(content)))
		if err != nil && imagery.CauseOf(err) == "" {
			t.Fatalf("no cause: %v", err)
		}
		if err == nil && (photo.Width <= 0 || photo.Height <= 0 || photo.Format == "") {
			t.Fatalf("%+v passes for a photo", photo)
		}
		if photo.HasPosition && !(math.Abs(photo.Latitude) <= 90 && math.Abs(photo.Longitude) <= 180) {
			t.Fatalf("position %v, %v", photo.Latitude, photo.Longitude)
		}
		imagery.Footprint([]imagery.Photo{photo})
	})
}

// opening provides the disk's files, and is called for each file opened.
type opening func()

func (f opening) OpenToRead(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		f()
	}
	return os.Open(path)
}

func (opening) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

func (opening) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }
