// Package flightgen generates small drone flights for tests and the example flight
// in testdata/flight: JPEG photos of a drawn field with the EXIF and XMP records of
// a drone. The same options give the same bytes, as long as image/jpeg encodes the
// same way. Begin with Write.
package flightgen

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Options describes a flight; zero values have the defaults given with the fields.
type Options struct {
	Width, Height int // pixels, 320 x 240
	// FileSize is the exact size in bytes to pad each file to; 0 does not pad. It
	// must exceed the unpadded size by at least 4 bytes.
	FileSize int64
	// Latitude and Longitude of the first photo in degrees; when both are 0,
	// a field at 50.7312, 4.9127.
	Latitude, Longitude float64
	GroundAltitude      float64   // of the field, metres above sea level; 0 means 84
	FlyingHeight        float64   // metres above the field; 0 means 30
	Start               time.Time // of the first photo, with its zone; zero means 2024-05-14 10:30 +02:00
	Strips              int       // parallel lines flown to and fro; 0 means 2
	WithoutPosition     []int     // indices of photos without a GPS record
}

// Shot is one photo of a flight as recorded in its file.
type Shot struct {
	Name                string // of the file
	HasPosition         bool
	Latitude, Longitude float64 // degrees
	Altitude            float64 // metres above sea level
	RelativeAltitude    float64 // metres above take-off
	Yaw                 float64 // degrees clockwise from north
	Acquired            time.Time
}

// What every photo of a flight records.
const (
	Make          = "Transect"
	Model         = "Test Camera"
	FocalLength   = 8.8  // millimetres
	FocalLength35 = 24.0 // millimetres
	GimbalPitch   = -90.0
)

// Interval is the time between two photos.
const Interval = 2 * time.Second

const (
	alongTrack  = 10.0 // metres between photos of a strip
	acrossTrack = 14.0 // metres between strips
	metres      = 111_195.0
)

func (o Options) withDefaults() Options {
	if o.Width == 0 {
		o.Width = 320
	}
	if o.Height == 0 {
		o.Height = 240
	}
	if o.Latitude == 0 && o.Longitude == 0 {
		o.Latitude, o.Longitude = 50.7312, 4.9127
	}
	if o.GroundAltitude == 0 {
		o.GroundAltitude = 84
	}
	if o.FlyingHeight == 0 {
		o.FlyingHeight = 30
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2024, 5, 14, 10, 30, 0, 0, time.FixedZone("", 2*3600))
	}
	if o.Strips == 0 {
		o.Strips = 2
	}
	return o
}

// Shots lists what a flight of n photos records, in the order of flight.
func Shots(n int, opt Options) []Shot {
	opt = opt.withDefaults()
	perStrip := max((n+opt.Strips-1)/opt.Strips, 1)
	shots := make([]Shot, n)
	for i := range shots {
		strip, along := i/perStrip, i%perStrip
		yaw := 0.0
		if strip%2 == 1 { // on the way back
			along, yaw = perStrip-1-along, 180
		}
		east := float64(strip) * acrossTrack / (metres * math.Cos(opt.Latitude*math.Pi/180))
		shots[i] = Shot{
			Name:        fmt.Sprintf("FLIGHT_%04d.JPG", i+1),
			HasPosition: !slices.Contains(opt.WithoutPosition, i),
			// A ten-millionth of a degree is a centimetre, and exact in EXIF.
			Latitude:         roundTo(opt.Latitude+float64(along)*alongTrack/metres, 1e-7),
			Longitude:        roundTo(opt.Longitude+east, 1e-7),
			RelativeAltitude: opt.FlyingHeight + float64(i%3)/10,
			Altitude:         roundTo(opt.GroundAltitude+opt.FlyingHeight+float64(i%3)/10, 1e-3),
			Yaw:              yaw,
			Acquired:         opt.Start.Add(time.Duration(i) * Interval).Truncate(time.Second),
		}
	}
	return shots
}

func roundTo(v, step float64) float64 { return math.Round(v/step) * step }

// Write writes a flight of n photos to dir, which it creates when missing.
func Write(dir string, n int, opt Options) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	opt = opt.withDefaults()
	for i, shot := range Shots(n, opt) {
		if err := writeFile(filepath.Join(dir, shot.Name), i, shot, opt); err != nil {
			return fmt.Errorf("photo %d of the flight: %w", i, err)
		}
	}
	return nil
}

func writeFile(path string, i int, shot Shot, opt Options) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := writePhoto(w, i, shot, opt); err != nil {
		return err
	}
	return w.Flush()
}

// writePhoto writes a JPEG file: metadata, padding, image.
func writePhoto(w io.Writer, i int, shot Shot, opt Options) error {
	picture, err := drawJPEG(i, opt.Width, opt.Height)
	if err != nil {
		return err
	}
	head := picture[:2] // start of image; the metadata goes right behind it
	head = slices.Concat(head,
		segment(0xE1, append([]byte("Exif\x00\x00"), exifRecord(shot)...)),
		segment(0xE1, append([]byte("http://ns.adobe.com/xap/1.0/\x00"), xmpRecord(shot)...)))
	body := picture[2:]
	if _, err := w.Write(head); err != nil {
		return err
	}
	if opt.FileSize > 0 {
		if err := fill(w, opt.FileSize-int64(len(head)+len(body)), uint64(i)); err != nil {
			return err
		}
	}
	_, err = w.Write(body)
	return err
}
