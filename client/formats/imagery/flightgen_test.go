package imagery_test

import (
	"bytes"
	"flag"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/client/files"
	"transect/client/formats/imagery"
	"transect/testdata/flightgen"
)

//go:generate go test -run TestCommittedFlight -update .

var update = flag.Bool("update", false, "write the example flight again")

// TestCommittedFlight checks that testdata/flight equals the generator's output.
func TestCommittedFlight(t *testing.T) {
	const photos = 8
	committed := filepath.Join("..", "..", "..", "testdata", "flight")
	if *update {
		if err := flightgen.Write(committed, photos, flightgen.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	made := t.TempDir()
	if err := flightgen.Write(made, photos, flightgen.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, shot := range flightgen.Shots(photos, flightgen.Options{}) {
		want := readFile(t, filepath.Join(made, shot.Name))
		if !bytes.Equal(readFile(t, filepath.Join(committed, shot.Name)), want) {
			t.Errorf("%s differs from the generator's: run go generate ./client/formats/imagery", shot.Name)
		}
		if len(want) >= 20_000 {
			t.Errorf("%s has %d bytes, more than an example should", shot.Name, len(want))
		}
		picture, err := jpeg.Decode(bytes.NewReader(want))
		if err != nil {
			t.Errorf("%s: %v", shot.Name, err)
		} else if size := picture.Bounds().Size(); size.X != 320 || size.Y != 240 {
			t.Errorf("%s is %v pixels", shot.Name, size)
		}
	}
}

func TestPhotosReadBack(t *testing.T) {
	for name, opt := range map[string]flightgen.Options{
		"defaults": {},
		"far south-west, below sea level": {
			Latitude: -33.5, Longitude: -70.25, GroundAltitude: -100, Width: 64, Height: 48, Strips: 3,
			Start: time.Date(2023, 12, 31, 23, 59, 58, 0, time.FixedZone("", -(3*3600+1800))),
		},
		"filled": {FileSize: 300_000, WithoutPosition: []int{1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := flightgen.Write(dir, 7, opt); err != nil {
				t.Fatal(err)
			}
			for _, want := range flightgen.Shots(7, opt) {
				got, err := imagery.Read(files.Tree{}, filepath.Join(dir, want.Name))
				if err != nil {
					t.Fatal(err)
				}
				compareShot(t, got, want, opt)
			}
		})
	}
}

func compareShot(t *testing.T, got imagery.Photo, want flightgen.Shot, opt flightgen.Options) {
	t.Helper()
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	if got.HasPosition != want.HasPosition {
		t.Fatalf("%s: has a position: %v", want.Name, got.HasPosition)
	}
	if want.HasPosition {
		near("latitude", got.Latitude, want.Latitude)
		near("longitude", got.Longitude, want.Longitude)
		near("altitude", *got.Altitude, want.Altitude)
	}
	near("relative altitude", *got.RelativeAltitude, want.RelativeAltitude)
	near("yaw", *got.Yaw, want.Yaw)
	near("pitch", *got.Pitch, flightgen.GimbalPitch)
	near("focal length", got.FocalLength, flightgen.FocalLength)
	near("35 mm focal length", got.FocalLength35, flightgen.FocalLength35)
	if !got.Acquired.Equal(want.Acquired) {
		t.Errorf("%s: acquired %v, want %v", want.Name, got.Acquired, want.Acquired)
	}
	if got.Make != flightgen.Make || got.Model != flightgen.Model {
		t.Errorf("%s: camera %q %q", want.Name, got.Make, got.Model)
	}
	if opt.FileSize > 0 && got.Size != opt.FileSize {
		t.Errorf("%s: %d bytes, want %d", want.Name, got.Size, opt.FileSize)
	}
}

func TestFileSizes(t *testing.T) {
	dir := t.TempDir()
	if err := flightgen.Write(dir, 1, flightgen.Options{Width: 16, Height: 16}); err != nil {
		t.Fatal(err)
	}
	bare := int64(len(readFile(t, filepath.Join(dir, "FLIGHT_0001.JPG"))))
	// Around one and two full segments, where the filling has to be split.
	for _, more := range []int64{0, 4, 5, 65536, 65537, 65538, 65540, 65541, 2 * 65537, 2*65537 + 3} {
		opt := flightgen.Options{Width: 16, Height: 16, FileSize: bare + more}
		if err := flightgen.Write(dir, 1, opt); err != nil {
			t.Fatal(err)
		}
		photo, err := imagery.Read(files.Tree{}, filepath.Join(dir, "FLIGHT_0001.JPG"))
		if err != nil || photo.Size != opt.FileSize {
			t.Errorf("%d bytes more: size %d, want %d, error %v", more, photo.Size, opt.FileSize, err)
		}
	}
	if err := flightgen.Write(dir, 1, flightgen.Options{FileSize: 100}); err == nil {
		t.Error("a size below the bare photo's is accepted")
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
