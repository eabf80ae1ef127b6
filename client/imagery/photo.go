// Package imagery reads what drone photos say of themselves: where and when
// they were taken, by which camera, how large they are, and whether the file
// is whole. Scan does so for a folder and estimates the ground it covers.
//
// JPEG, TIFF (with DNG), PNG and WebP are read. Only headers and directories
// are, so a folder of large photos takes little memory and time; pixels are
// never decoded, and passed through only to find the end of a JPEG file that
// something was appended to, and to compare photos that look the same.
package imagery

import (
	"errors"
	"io"
	"os"
	"time"

	"transect/client/fault"
)

// Photo is one image file, as described by its own EXIF and XMP records.
type Photo struct {
	Path   string // as given to Read; empty from ReadFrom
	Size   int64  // bytes
	Format Format

	// Width and Height are the pixels stored, before any rotation; what EXIF
	// claims may be that of an earlier, larger picture.
	Width, Height int

	// HasPosition tells whether Latitude and Longitude (signed degrees, WGS 84)
	// are known. A position of exactly 0, 0 is what cameras write without a
	// fix, and counts as none.
	HasPosition         bool
	Latitude, Longitude float64
	Altitude            *float64 // metres above sea level, negative below it

	RelativeAltitude *float64 // metres above the take-off point
	// Gimbal angles in degrees: yaw clockwise from north, pitch 0 level and -90
	// straight down.
	Yaw, Pitch, Roll *float64

	// Acquired is when the photo was taken, the zero time when not known. The
	// zone is the one recorded; without one (ZoneKnown false) the camera's
	// clock is taken as UTC.
	Acquired  time.Time
	ZoneKnown bool

	Make, Model   string  // of the camera
	FocalLength   float64 // millimetres, 0 when not known
	FocalLength35 float64 // the same for a 35 mm frame, 0 when not known
	SensorWidth   float64 // millimetres, 0 when not known

	// Band names the spectral band ("NIR"), or several as "Red, Green, Blue".
	Band string
	// CaptureID is shared by the photos a multi-camera rig took at one moment.
	CaptureID string

	// Void tells that a position is recorded, but it is 0, 0.
	Void bool
	// XMP is what the XMP record says of what EXIF tells as well, for
	// comparing the two; the fields above prefer EXIF.
	XMP Claims
}

// Claims is what one record of a photo says of where and when.
type Claims struct {
	HasPosition         bool
	Latitude, Longitude float64
	Altitude            *float64
	Acquired            time.Time // the zero time when not said
	DateOnly            bool      // Acquired has no time of day
}

// Opener opens files that are read, and may refuse to; nil is os.Open.
type Opener func(path string) (*os.File, error)

// Open opens a file.
func (open Opener) Open(path string) (*os.File, error) {
	if open == nil {
		return os.Open(path)
	}
	return open(path)
}

// Read reads one photo. The error is a fault.FileError, of which CauseOf tells
// the cause; what could be read of a truncated photo comes with it.
func Read(path string) (Photo, error) { return Opener(nil).Read(path) }

// Read is the function Read for files opened this way.
func (open Opener) Read(path string) (Photo, error) {
	p, err := open.readFile(path)
	p.Path = path
	if err != nil {
		return p, problemOf(path, err).fault(err)
	}
	return p, nil
}

// ReadFrom reads a photo of size bytes from r. Errors are as those of Read.
func ReadFrom(r io.ReadSeeker, size int64) (Photo, error) {
	s := newSource(r, size)
	defer s.done()
	p, err := readSource(s)
	if err != nil {
		return p, problemOf("", err).fault(err)
	}
	return p, nil
}

func (open Opener) readFile(path string) (Photo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Photo{}, unreadable(err)
	}
	// Opening a pipe would wait for ever.
	if !info.Mode().IsRegular() {
		return Photo{}, defectf(NotImage, "it is not a file")
	}
	f, err := open.Open(path)
	if err != nil {
		return Photo{Size: info.Size()}, unreadable(err)
	}
	defer f.Close()
	s := newSource(f, info.Size())
	defer s.done()
	return readSource(s)
}

func readSource(s *source) (Photo, error) {
	p := Photo{Size: s.size}
	if s.size == 0 {
		return p, defectf(Empty, "the file is empty")
	}
	format, err := s.format()
	if err != nil {
		return p, err
	}
	p.Format = format
	l, err := s.layout(format)
	// A read that failed is the file's trouble, whatever the parser made of it.
	if s.err != nil {
		return p, unreadable(s.err)
	}
	p.Width, p.Height = l.width, l.height
	if l.exif != nil {
		p.addEXIF(l.exif)
	}
	if err == nil && (p.Width <= 0 || p.Height <= 0) {
		err = defectf(Damaged, "the picture has no size")
	}
	if err == nil && l.xmp != nil {
		p.addXMP(l.xmp)
	}
	return p, err
}

// layout is what the structure of a file tells.
type layout struct {
	width, height int
	exif          *io.SectionReader // TIFF structure holding the EXIF record, or nil
	xmp           *io.SectionReader // XMP record, or nil
}

func (s *source) layout(format Format) (layout, error) {
	switch format {
	case JPEG:
		return readJPEG(s)
	case TIFF:
		return readTIFF(s)
	case PNG:
		return readPNG(s)
	}
	return readWebP(s)
}

func unreadable(err error) error {
	return defectf(Unreadable, "the file cannot be read: %w", fault.Reason(err))
}

// CauseOf returns why an image could not be read, "" when err is of another
// kind.
func CauseOf(err error) Cause {
	var d *defect
	if errors.As(err, &d) {
		return d.cause
	}
	return ""
}
