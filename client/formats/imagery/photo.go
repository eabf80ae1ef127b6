// Package imagery reads the metadata of drone photos (JPEG, TIFF with DNG, PNG, WebP): position,
// time, camera, size, and whether the file is complete.
//
// Read and ReadFrom read one photo, Reader and Scan a folder of them; Scan also finds duplicates.
// Footprint and Photo.Outline estimate the visible ground. The ingest, its checks, the scripts'
// module imagery and the local platform use it; it uses package geodesic and orb.
//
// It reads headers and directories through a window of 16 KiB, never pixels, so that folders of
// large photos need little time and memory: format.go distinguishes the formats, jpeg.go, tiff.go
// and chunks.go find the EXIF and XMP records, exif.go and xmp.go parse them. Begin with Photo and
// readSource.
package imagery

import (
	"errors"
	"io"
	"time"

	"transect/client/fault"
	"transect/client/files"
)

// Photo is the metadata of one image file.
type Photo struct {
	Path   string // as given to Read; empty from ReadFrom
	Size   int64  // bytes
	Format Format

	// Width and Height are of the stored pixels, before any rotation. (EXIF may
	// record the size of an earlier, larger image.)
	Width, Height int

	// HasPosition reports whether Latitude and Longitude (signed degrees, WGS 84) are known.
	// Exactly 0, 0 counts as no position, because cameras write it without a GPS fix.
	HasPosition         bool
	Latitude, Longitude float64
	Altitude            *float64 // metres above sea level, negative below it

	RelativeAltitude *float64 // metres above the take-off point
	// Gimbal angles in degrees: yaw clockwise from north, pitch 0 level and -90
	// straight down.
	Yaw, Pitch, Roll *float64

	// Acquired is when the photo was taken; the zero time when unknown. Without a recorded zone it
	// is the camera's clock, interpreted as UTC.
	Acquired time.Time

	Make, Model   string  // of the camera
	FocalLength   float64 // millimetres, 0 when unknown
	FocalLength35 float64 // equivalent for a 35 mm frame, 0 when unknown
	SensorWidth   float64 // millimetres, 0 when unknown

	// Band names the spectral band ("NIR"), or several as "Red, Green, Blue".
	Band string
	// CaptureID is shared by the photos a multi-camera rig took at one moment.
	CaptureID string

	// Void reports that the recorded position is 0, 0; Unsigned, that its hemispheres are missing
	// and it is not used; NoFix, that the receiver had no fix when the photo was taken.
	Void, Unsigned, NoFix bool
	// XMP holds the values of the XMP record for comparison; the fields above
	// prefer EXIF.
	XMP Claims
}

// Claims are the position and time in one record of a photo.
type Claims struct {
	HasPosition         bool
	Latitude, Longitude float64
	Altitude            *float64
	Acquired            time.Time // the zero time when unknown
	DateOnly            bool      // Acquired has no time of day
}

// Read reads one photo. The error is a fault.FileError with a cause, see CauseOf; for a truncated
// photo it returns whatever could be read.
func Read(tree files.Tree, path string) (Photo, error) {
	p, err := readFile(tree, path)
	p.Path = path
	if err != nil {
		return p, problemOf(path, err).fault(err)
	}
	return p, nil
}

// ReadFrom reads a photo of size bytes from r, with the errors of Read.
func ReadFrom(r io.ReaderAt, size int64) (Photo, error) {
	s := newSource(r, size)
	defer s.release()
	p, err := readSource(s)
	if err != nil {
		return p, problemOf("", err).fault(err)
	}
	return p, nil
}

func readFile(tree files.Tree, path string) (Photo, error) {
	info, err := tree.Stat(path)
	if err != nil {
		return Photo{}, unreadable(err)
	}
	// Opening a pipe would block.
	if !info.Mode().IsRegular() {
		return Photo{}, defectf(NotImage, "it is not a regular file")
	}
	f, err := tree.Open(path)
	if err != nil {
		return Photo{Size: info.Size()}, unreadable(err)
	}
	defer f.Close()
	s := newSource(f, info.Size())
	defer s.release()
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
	// A failed read is the cause of any parser error.
	if s.err != nil {
		return p, unreadable(s.err)
	}
	p.Width, p.Height = l.width, l.height
	if l.exif != nil {
		p.addEXIF(l.exif)
	}
	if err == nil && (p.Width <= 0 || p.Height <= 0) {
		err = defectf(Damaged, "the image has no size")
	}
	if err == nil && l.xmp != nil {
		p.addXMP(l.xmp)
	}
	return p, err
}

// layout is the size of an image and the location of its metadata.
type layout struct {
	width, height int
	exif          *io.SectionReader // TIFF structure holding the EXIF record, or nil
	xmp           *io.SectionReader // XMP record, or nil
	pictures      *io.SectionReader // TIFF structure of the multi-picture format, or nil
	progressive   bool              // a JPEG that decoders must hold in memory completely
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

// CauseOf returns why an image could not be read, or "" for other errors.
func CauseOf(err error) Cause {
	var d *defect
	if errors.As(err, &d) {
		return d.cause
	}
	return ""
}
