package imagery_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/formats/imagery"
)

// reading is exiftool's result for one file of the shared test data.
type reading struct {
	File                          string
	Bytes                         int64
	Type, Make, Model, Warning    string
	Width, Height                 int
	Latitude, Longitude, Altitude *float64
	DateTimeOriginal, GPSDateTime string
	RelativeAltitude, GimbalPitch any
	GimbalYaw                     any
	Band                          any
	CaptureUUID                   string
}

var sharedImages = filepath.Join("..", "..", "..", "..", "shared", "data", "images")

func readings(t *testing.T) []reading {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sharedImages, "expected.json"))
	if err != nil {
		t.Skipf("no shared test data: %v", err)
	}
	var all []reading
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// notRead lists the files that are refused, with the cause.
var notRead = map[string]imagery.Cause{
	"varied/corrupt-huge-tag.jpg": imagery.Truncated,
	"varied/with-gps.mp4":         imagery.Unsupported,
}

func TestReadAgreesWithExiftool(t *testing.T) {
	for _, want := range readings(t) {
		t.Run(want.File, func(t *testing.T) {
			got, err := imagery.Read(files.Tree{}, filepath.Join(sharedImages, filepath.FromSlash(want.File)))
			if cause, refused := notRead[want.File]; refused {
				var file *fault.FileError
				if imagery.CauseOf(err) != cause || !errors.As(err, &file) || file.Hint == "" {
					t.Fatalf("error %v (%s), want %s", err, imagery.CauseOf(err), cause)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Width != want.Width || got.Height != want.Height || got.Size != want.Bytes {
				t.Errorf("%d x %d pixels, %d bytes; want %d x %d, %d", got.Width, got.Height, got.Size, want.Width, want.Height, want.Bytes)
			}
			if format := strings.ToUpper(string(got.Format)); !strings.HasSuffix(want.Type, format) {
				t.Errorf("format %s, want %s", got.Format, want.Type)
			}
			if got.Make != want.Make || got.Model != want.Model {
				t.Errorf("camera %q %q, want %q %q", got.Make, got.Model, want.Make, want.Model)
			}
			if got.HasPosition != (want.Latitude != nil) {
				t.Fatalf("has a position: %v", got.HasPosition)
			}
			if got.HasPosition {
				near(t, "latitude", &got.Latitude, want.Latitude, 1e-6)
				near(t, "longitude", &got.Longitude, want.Longitude, 1e-6)
			}
			near(t, "altitude", got.Altitude, want.Altitude, 1e-3)
			near(t, "relative altitude", got.RelativeAltitude, number(t, want.RelativeAltitude), 1e-9)
			near(t, "pitch", got.Pitch, number(t, want.GimbalPitch), 1e-9)
			near(t, "yaw", got.Yaw, number(t, want.GimbalYaw), 1e-9)
			if acquired := acquired(t, want); !got.Acquired.Truncate(time.Second).Equal(acquired) {
				t.Errorf("acquired %v, want %v", got.Acquired, acquired)
			}
			if got.Band != band(want.Band) || got.CaptureID != want.CaptureUUID {
				t.Errorf("band %q, capture %q; want %q, %q", got.Band, got.CaptureID, band(want.Band), want.CaptureUUID)
			}
		})
	}
}

func near(t *testing.T, what string, got, want *float64, tolerance float64) {
	t.Helper()
	switch {
	case got == nil && want == nil:
	case got == nil || want == nil:
		t.Errorf("%s: known %v, want %v", what, got != nil, want != nil)
	case !(math.Abs(*got-*want) <= tolerance):
		t.Errorf("%s is %v, want %v", what, *got, *want)
	}
}

// number reads a number or a text such as "+39.80".
func number(t *testing.T, v any) *float64 {
	t.Helper()
	switch v := v.(type) {
	case float64:
		return &v
	case string:
		n, err := strconv.ParseFloat(v, 64)
		if err != nil {
			t.Fatal(err)
		}
		return &n
	}
	return nil
}

func band(v any) string {
	list, ok := v.([]any)
	if !ok {
		text, _ := v.(string)
		return text
	}
	var names []string
	for _, name := range list {
		names = append(names, name.(string))
	}
	return strings.Join(names, ", ")
}

// acquired returns the expected time: none of the files has a zone, and blank or zero times count as missing.
func acquired(t *testing.T, want reading) time.Time {
	t.Helper()
	if at, err := time.Parse("2006:01:02 15:04:05", want.DateTimeOriginal); err == nil {
		return at
	}
	if at, err := time.Parse("2006:01:02 15:04:05Z", want.GPSDateTime); err == nil {
		return at
	}
	return time.Time{}
}

func TestScanOfRealFlight(t *testing.T) {
	readings(t) // skips without the data
	survey, err := imagery.Scan(t.Context(), filepath.Join(sharedImages, "dji-brighton"), imagery.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(survey.Photos) != 18 || len(survey.Problems) != 0 {
		t.Errorf("%d photos, problems %v", len(survey.Photos), survey.Problems)
	}
	if want := time.Date(2016, 6, 23, 16, 31, 59, 0, time.UTC); !survey.Date.Equal(want) {
		t.Errorf("date %v, want %v", survey.Date, want)
	}
	// The positions alone span about 84 m by 84 m, turned by 45 degrees; each
	// photo shows 76 m by 42 m.
	if survey.Area < 10_000 || survey.Area > 25_000 {
		t.Errorf("footprint of %.0f square metres: %v", survey.Area, survey.Footprint)
	}
}

func TestScanOfVariedFiles(t *testing.T) {
	readings(t)
	survey, err := imagery.Scan(t.Context(), filepath.Join(sharedImages, "varied"), imagery.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	causes := map[string]imagery.Cause{}
	for _, p := range survey.Problems {
		causes[filepath.Base(p.Path)] = p.Cause
	}
	if len(survey.Photos) != 8 || len(causes) != 2 ||
		causes["corrupt-huge-tag.jpg"] != imagery.Truncated || causes["fuji-dx5-no-gps.jpg"] != imagery.NoPosition {
		t.Errorf("%d photos, problems %v", len(survey.Photos), survey.Problems)
	}
}

// TestCutFilesOfRealCameras truncates every real photo at many offsets: none may
// pass as complete.
func TestCutFilesOfRealCameras(t *testing.T) {
	for _, want := range readings(t) {
		if _, refused := notRead[want.File]; refused || testing.Short() && want.Bytes > 1<<20 {
			continue
		}
		whole, err := os.ReadFile(filepath.Join(sharedImages, filepath.FromSlash(want.File)))
		if err != nil {
			t.Fatal(err)
		}
		size := int64(len(whole))
		for _, length := range []int64{size - 1, size - 2, size - 100, size * 9 / 10, size / 2, size / 3, 1000, 20, 3} {
			if length < 1 || length >= size {
				continue
			}
			for _, padded := range []int64{0, 512} { // the unwritten end of a file is often zeros
				cut := append(append([]byte{}, whole[:length]...), make([]byte, padded)...)
				if length+padded >= size && padded > 0 && allZero(whole[length:]) {
					continue
				}
				_, err := imagery.ReadFrom(strings.NewReader(string(cut)), int64(len(cut)))
				// Only JPEG marks its end; in other formats zeros count as pixels.
				if err == nil && (padded == 0 || want.Type == "JPEG") {
					t.Errorf("%s cut to %d of %d bytes and %d zeros passes for whole", want.File, length, size, padded)
				}
			}
		}
	}
}

func allZero(b []byte) bool { return strings.Trim(string(b), "\x00") == "" }
