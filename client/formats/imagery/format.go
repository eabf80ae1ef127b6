package imagery

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
)

// Format is a file format, recognised by content.
type Format string

// The supported formats. DNG is a kind of TIFF.
const (
	JPEG Format = "jpeg"
	TIFF Format = "tiff"
	PNG  Format = "png"
	WebP Format = "webp"
)

// Reads reports whether photos of a format, which may be a subtype of one of these, can be read.
func Reads(format string) bool {
	switch Format(format) {
	case JPEG, TIFF, PNG, WebP, "dng":
		return true
	}
	return false
}

// extensions are the extensions of image files; true marks supported ones.
var extensions = map[string]bool{
	".jpg": true, ".jpeg": true, ".jpe": true, ".tif": true, ".tiff": true,
	".dng": true, ".png": true, ".webp": true,
	".heic": false, ".heif": false, ".avif": false, ".cr2": false, ".cr3": false,
	".nef": false, ".arw": false, ".raf": false, ".orf": false, ".rw2": false,
	".pef": false, ".bmp": false, ".gif": false, ".jp2": false,
}

// isImage reports whether a file is an image by its name. Hidden files are not, e.g. the "._" files
// that macOS leaves on cards.
func isImage(name string) bool {
	_, known := extensions[strings.ToLower(filepath.Ext(name))]
	return known && !strings.HasPrefix(name, ".")
}

// full fills b from offset, and reports whether the file has that many bytes.
func (s *source) full(b []byte, offset int64) bool {
	n, _ := s.ReadAt(b, offset)
	return n == len(b)
}

// begins reports whether a section of the file begins with a header that is followed by more bytes.
func (s *source) begins(header string, offset, length int64) bool {
	head := make([]byte, len(header))
	return length > int64(len(head)) && s.full(head, offset) && string(head) == header
}

func (s *source) section(offset, length int64) *io.SectionReader {
	return io.NewSectionReader(s, offset, length)
}

func (s *source) format() (Format, error) {
	head := make([]byte, 12)
	n, err := s.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return "", unreadable(err)
	}
	head = head[:n]
	for _, f := range []struct {
		magic  string
		format Format
	}{
		{"\xff\xd8", JPEG}, {"II*\x00", TIFF}, {"MM\x00*", TIFF}, {"\x89PNG\r\n\x1a\n", PNG},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.format, nil
		}
	}
	if len(head) == 12 {
		switch {
		case string(head[:4]) == "RIFF" && string(head[8:]) == "WEBP":
			return WebP, nil
		case string(head[4:8]) == "ftyp":
			return "", defectf(Unsupported, "HEIF, AVIF and video files are not supported")
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("II+\x00")), bytes.HasPrefix(head, []byte("MM\x00+")):
		return "", defectf(Unsupported, "BigTIFF is not supported")
	case bytes.HasPrefix(head, []byte("BM")), bytes.HasPrefix(head, []byte("GIF8")):
		return "", defectf(Unsupported, "BMP and GIF are not supported")
	}
	if len(bytes.Trim(head, "\x00")) == 0 {
		return "", defectf(Damaged, "the file contains zeros instead of an image")
	}
	return "", defectf(NotImage, "it is not an image")
}
