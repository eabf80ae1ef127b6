package imagery

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"

	"transect/client/formats/jpegcheck"
)

// JPEG markers (ITU-T T.81, table B.1).
const (
	markerSOI  = 0xD8
	markerEOI  = 0xD9
	markerSOS  = 0xDA
	markerSOF2 = 0xC2 // progressive
	markerAPP1 = 0xE1
	markerAPP2 = 0xE2
)

const (
	exifHeader = "Exif\x00\x00"
	mpfHeader  = "MPF\x00" // multi-picture format (CIPA DC-007)
)

// readJPEG reads the segments before the pixels. A complete file ends with the end-of-image marker,
// unless something was appended; only then it searches the pixel data for the marker.
func readJPEG(s *source) (layout, error) {
	var l layout
	pixels, err := walkJPEG(s, 0, func(marker byte, offset, length int64) {
		switch {
		case marker == markerAPP1 && l.exif == nil && s.begins(exifHeader, offset, length):
			l.exif = s.section(offset+int64(len(exifHeader)), length-int64(len(exifHeader)))
		case marker == markerAPP1 && l.xmp == nil && s.begins(xmpHeader, offset, length):
			l.xmp = s.section(offset+int64(len(xmpHeader)), length-int64(len(xmpHeader)))
		case marker == markerAPP2 && l.pictures == nil && s.begins(mpfHeader, offset, length):
			l.pictures = s.section(offset+int64(len(mpfHeader)), length-int64(len(mpfHeader)))
		case isFrame(marker) && length >= 5:
			var frame [5]byte
			if s.full(frame[:], offset) {
				l.height = int(binary.BigEndian.Uint16(frame[1:]))
				l.width = int(binary.BigEndian.Uint16(frame[3:]))
				l.progressive = marker == markerSOF2
			}
		}
	})
	if err == nil {
		err = checkMiddle(s, pixels)
	}
	if err != nil || endsWithEOI(s) {
		return l, err
	}
	return l, checkImages(s, pixels)
}

// middleSize is how much is examined in the middle of a file. Callers that sample files have
// already read it.
const middleSize = 12 << 10

// checkMiddle reads some pixel data in the middle of the file. Failing cards and copies leave
// blocks of zeros, or of erased memory, which pixel data never contains except for pictures of one
// colour; the padding before an appended image has the same appearance.
func checkMiddle(s *source, pixels int64) error {
	at := s.size/2 - middleSize/2
	middle := make([]byte, middleSize)
	if at < pixels || !s.full(middle, at) {
		return nil
	}
	b := middle[0]
	if b != 0 && b != 0xFF || bytes.Count(middle, middle[:1]) < middleSize {
		return nil
	}
	before := make([]byte, min(at, 64<<10))
	if b == 0 && s.full(before, at-int64(len(before))) &&
		bytes.HasSuffix(bytes.TrimRight(before, "\x00"), []byte{0xFF, markerEOI}) {
		return nil
	}
	// A picture of one colour, and a camera's appendix, have the same appearance.
	if jpegcheck.Check(context.Background(), s.section(0, s.size), withinMemory) == nil {
		return nil
	}
	return defectf(Damaged, "a block in the middle of the image is empty: the bytes from %d on are all %d", at, b)
}

// withinMemory refuses progressive pictures above some 130 megapixels.
func withinMemory(bytes int64) error {
	if bytes > 64<<20 {
		return jpegcheck.ErrUnsupported
	}
	return nil
}

// isFrame reports whether a marker starts a frame, which holds the size.
func isFrame(marker byte) bool {
	return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
}

// maxStray is the maximum number of bytes between two segments.
const maxStray = 4 << 10

// walkJPEG visits the segments of the image that starts at offset and returns the
// offset of its pixel data.
func walkJPEG(s *source, offset int64, visit func(marker byte, offset, length int64)) (int64, error) {
	cut := defectf(Truncated, "the file ends within its header")
	offset += 2
	stray := offset // end of the last segment
	var b [4]byte
	for {
		there := s.full(b[:2], offset)
		switch {
		case offset > stray && !there, offset-stray > maxStray:
			return 0, defectf(Damaged, "its header is invalid at byte %d", stray)
		case !there:
			return 0, cut
		case b[0] != 0xFF || b[1] == 0: // decoders skip anything between two segments
			offset++
			continue
		}
		marker := b[1]
		switch {
		case marker == 0xFF: // fill byte
			offset++
			continue
		case marker == 0x01 || marker >= 0xD0 && marker <= markerSOI:
			offset += 2
			continue
		case marker == markerEOI:
			return 0, defectf(Damaged, "it contains no image")
		}
		if !s.full(b[:], offset) {
			return 0, cut
		}
		length := int64(binary.BigEndian.Uint16(b[2:]))
		if length < 2 {
			return 0, defectf(Damaged, "its header is invalid at byte %d", offset)
		}
		end := offset + 2 + length
		if end > s.size {
			return 0, cut
		}
		if marker == markerSOS {
			return end, nil
		}
		visit(marker, offset+4, length-2)
		offset, stray = end, end
	}
}

// endsWithEOI reports whether the file ends with the end-of-image marker, before padding. Pixel
// data cannot contain the marker, so a truncated file does not end with it.
func endsWithEOI(s *source) bool {
	tail := make([]byte, min(s.size, 4096))
	if !s.full(tail, s.size-int64(len(tail))) {
		return false
	}
	end := len(tail)
	for end > 0 && tail[end-1] == 0 {
		end--
	}
	return end >= 2 && tail[end-2] == 0xFF && tail[end-1] == markerEOI
}

// checkImages searches pixel data for its end. Cameras append a smaller second image (multi-picture
// format), which must be complete, too, or proprietary records, which are ignored.
func checkImages(s *source, pixels int64) error {
	for {
		end, found := findEOI(s, pixels)
		if !found {
			return defectf(Truncated, "the end of the image is missing")
		}
		end = skipZeros(s, end)
		var next [3]byte
		if !s.full(next[:], end) || next[0] != 0xFF || next[1] != markerSOI || next[2] != 0xFF {
			return nil
		}
		var err error
		if pixels, err = walkJPEG(s, end, func(byte, int64, int64) {}); err != nil {
			return err
		}
	}
}

// skipZeros skips the padding between two images, at most 64 KiB.
func skipZeros(s *source, offset int64) int64 {
	padding := make([]byte, 64<<10)
	n, _ := s.ReadAt(padding, offset)
	return offset + int64(n-len(bytes.TrimLeft(padding[:n], "\x00")))
}

// findEOI returns the offset after the next end-of-image marker.
func findEOI(s *source, offset int64) (end int64, found bool) {
	section := s.section(offset, s.size-offset)
	r := bufio.NewReaderSize(section, 64<<10)
	position := func() int64 {
		at, _ := section.Seek(0, io.SeekCurrent)
		return offset + at - int64(r.Buffered())
	}
	for {
		if _, err := r.ReadSlice(0xFF); err == bufio.ErrBufferFull {
			continue
		} else if err != nil {
			return 0, false
		}
		marker, err := r.ReadByte()
		for err == nil && marker == 0xFF {
			marker, err = r.ReadByte()
		}
		if err != nil {
			return 0, false
		}
		switch {
		case marker == markerEOI:
			return position(), true
		case marker == 0 || marker == 1 || marker >= 0xD0 && marker <= markerSOI:
			// a stuffed byte or a restart: pixel data continues
		default: // tables between the scans of a progressive image
			var length [2]byte
			if _, err := io.ReadFull(r, length[:]); err != nil {
				return 0, false
			}
			if n := int(binary.BigEndian.Uint16(length[:])); n > 2 {
				if _, err := r.Discard(n - 2); err != nil {
					return 0, false
				}
			}
		}
	}
}
