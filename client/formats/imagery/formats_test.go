package imagery_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"transect/client/formats/imagery"
	"transect/testdata/flightgen"
)

// tiffField is tag, type, count and value of a directory entry.
type tiffField struct {
	tag, kind    uint16
	count, value uint32
}

// tiffFile returns a little-endian TIFF file of directories, each at its offset.
func tiffFile(size int, directories map[int][]tiffField) []byte {
	b := make([]byte, size)
	order := binary.LittleEndian
	copy(b, "II*\x00\x08")
	for offset, fields := range directories {
		directory := order.AppendUint16(nil, uint16(len(fields)))
		for _, f := range fields {
			directory = order.AppendUint16(directory, f.tag)
			directory = order.AppendUint16(directory, f.kind)
			directory = order.AppendUint32(directory, f.count)
			directory = order.AppendUint32(directory, f.value)
		}
		copy(b[offset:], directory)
	}
	return b
}

func TestTIFF(t *testing.T) {
	const width, height, strips, counts, subfile, below = 0x100, 0x101, 0x111, 0x117, 0xFE, 0x14A
	picture := []tiffField{{width, 3, 1, 100}, {height, 3, 1, 80}, {strips, 4, 1, 500}, {counts, 4, 1, 400}}
	preview := []tiffField{{subfile, 4, 1, 1}, {width, 3, 1, 10}, {height, 3, 1, 8}, {below, 4, 1, 200}}
	loop := append([]tiffField{{below, 4, 1, 8}}, picture...)
	odd := append([]tiffField{{0x1, 0, 1, 7}, {0x2, 99, 1, 7}, {0x10F, 2, 0xFFFFFFFF, 7}}, picture...)
	for name, c := range map[string]struct {
		file  []byte
		cause imagery.Cause
	}{
		"one directory":              {tiffFile(900, map[int][]tiffField{8: picture}), ""},
		"preview before the picture": {tiffFile(900, map[int][]tiffField{8: preview, 200: picture}), ""},
		"directories in a loop":      {tiffFile(900, map[int][]tiffField{8: loop}), ""},
		"odd entries":                {tiffFile(900, map[int][]tiffField{8: odd}), ""},
		"pixels beyond the end":      {tiffFile(899, map[int][]tiffField{8: picture}), imagery.Truncated},
		"pixels of the real picture": {tiffFile(899, map[int][]tiffField{8: preview, 200: picture}), imagery.Truncated},
		"directory beyond the end":   {tiffFile(150, map[int][]tiffField{8: preview}), imagery.Truncated},
		"header only":                {[]byte("MM\x00*"), imagery.Truncated},
		"no size":                    {tiffFile(900, map[int][]tiffField{8: nil}), imagery.Damaged},
		"BigTIFF":                    {[]byte("II+\x00\x08\x00\x00\x00"), imagery.Unsupported},
	} {
		photo, err := imagery.ReadFrom(bytes.NewReader(c.file), int64(len(c.file)))
		if imagery.CauseOf(err) != c.cause || (err == nil) != (c.cause == "") {
			t.Errorf("%s: %v (%s), want %q", name, err, imagery.CauseOf(err), c.cause)
		} else if err == nil && (photo.Width != 100 || photo.Height != 80) {
			t.Errorf("%s: %d x %d pixels", name, photo.Width, photo.Height)
		}
	}
}

func TestWebPSizes(t *testing.T) {
	for name, chunk := range map[string]string{
		"lossy":    "VP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x2c\x01\xc8\x00",
		"lossless": "VP8L\x06\x00\x00\x00\x2f\x2b\xc1\x31\x00\x00",
		"extended": "VP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x2b\x01\x00\xc7\x00\x00",
	} {
		file := "RIFF" + string([]byte{byte(4 + len(chunk)), 0, 0, 0}) + "WEBP" + chunk
		photo, err := imagery.ReadFrom(strings.NewReader(file), int64(len(file)))
		if err != nil || photo.Format != imagery.WebP || photo.Width != 300 || photo.Height != 200 {
			t.Errorf("%s: %d x %d pixels, %v", name, photo.Width, photo.Height, err)
		}
		if _, err := imagery.ReadFrom(strings.NewReader(file), int64(len(file)-1)); imagery.CauseOf(err) != imagery.Truncated {
			t.Errorf("%s, cut: %v", name, err)
		}
	}
}

func TestPositionZero(t *testing.T) {
	dir := flight(t, 1, flightgen.Options{Latitude: 1e-12})
	survey, err := imagery.Scan(t.Context(), dir, imagery.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(survey.Photos) != 0 || len(survey.Problems) != 1 || survey.Footprint != nil ||
		survey.Problems[0].Cause != imagery.NoPosition || !strings.Contains(survey.Problems[0].Message, "0, 0") {
		t.Errorf("%+v", survey)
	}
}

func TestPositionOfXMP(t *testing.T) {
	dir := flight(t, 1, flightgen.Options{WithoutPosition: []int{0}})
	file := read(t, dir, "FLIGHT_0001.JPG")
	for old, replacement := range map[string]string{ // of the same length
		`drone-dji:AbsoluteAltitude="+114.00"`: `drone-dji:GpsLatitude="-50.73000000"`,
		`drone-dji:GimbalRollDegree="+0.00"`:   `drone-dji:GpsLongitude="+4.910000"`,
	} {
		if !bytes.Contains(file, []byte(old)) || len(old) != len(replacement) {
			t.Fatalf("cannot put %s", replacement)
		}
		file = bytes.Replace(file, []byte(old), []byte(replacement), 1)
	}
	photo, err := imagery.ReadFrom(bytes.NewReader(file), int64(len(file)))
	if err != nil || !photo.HasPosition || math.Abs(photo.Latitude+50.73) > 1e-9 || math.Abs(photo.Longitude-4.91) > 1e-9 {
		t.Errorf("%+v, %v", photo, err)
	}
}

// Some ground stations write the reference of the altitude as text.
func TestAltitudeReferenceAsText(t *testing.T) {
	dir := flight(t, 1, flightgen.Options{})
	file := read(t, dir, "FLIGHT_0001.JPG")
	i := bytes.Index(file, []byte("II*\x00"))
	if i < 0 {
		t.Fatal("the EXIF record is not in little-endian order")
	}
	tag := bytes.Index(file[i:], []byte{5, 0, 1, 0, 1, 0, 0, 0}) // AltitudeRef, one byte
	if tag < 0 {
		t.Fatal("no altitude reference")
	}
	before, err := imagery.ReadFrom(bytes.NewReader(file), int64(len(file)))
	if err != nil || before.Altitude == nil || *before.Altitude <= 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	copy(file[i+tag:], []byte{5, 0, 2, 0, 2, 0, 0, 0, '1', 0})
	after, err := imagery.ReadFrom(bytes.NewReader(file), int64(len(file)))
	if err != nil || after.Altitude == nil || *after.Altitude != -*before.Altitude {
		t.Errorf("%v, %v", after.Altitude, err)
	}
}
