package imagery

import (
	"encoding/binary"
	"io"
)

// readPNG reads the chunks up to the last one, IEND.
func readPNG(s *source) (layout, error) {
	var l layout
	cut := defectf(Truncated, "the end of the image is missing")
	var head [16]byte
	for offset := int64(8); ; {
		if !s.full(head[:8], offset) {
			return l, cut
		}
		length := int64(binary.BigEndian.Uint32(head[:4]))
		end := offset + 12 + length // with the checksum
		if end > s.size {
			return l, cut
		}
		switch kind := string(head[4:8]); kind {
		case "IHDR":
			if s.full(head[8:], offset+8) {
				l.width = int(binary.BigEndian.Uint32(head[8:]))
				l.height = int(binary.BigEndian.Uint32(head[12:]))
			}
		case "eXIf":
			l.exif = s.section(offset+8, length)
		case "iTXt":
			if l.xmp == nil {
				l.xmp = xmpOfPNG(s, offset+8, length)
			}
		case "IEND":
			return l, nil
		}
		offset = end
	}
}

// readWebP reads the chunks of the RIFF container, whose header has the length of
// the file.
func readWebP(s *source) (layout, error) {
	var l layout
	cut := defectf(Truncated, "the end of the image is missing")
	var head [18]byte
	s.full(head[:8], 0)
	if 8+int64(binary.LittleEndian.Uint32(head[4:8])) > s.size {
		return l, cut
	}
	for offset := int64(12); offset+8 <= s.size; {
		if !s.full(head[:8], offset) {
			return l, cut
		}
		length := int64(binary.LittleEndian.Uint32(head[4:8]))
		if offset+8+length > s.size {
			return l, cut
		}
		kind, body := string(head[:4]), head[8:]
		switch kind {
		case "EXIF":
			l.exif = exifOfWebP(s, offset+8, length)
		case "XMP ":
			l.xmp = s.section(offset+8, length)
		case "VP8X", "VP8 ", "VP8L":
			// In an extended file VP8X comes first and has the canvas size.
			if n := min(length, int64(len(body))); l.width == 0 && s.full(body[:n], offset+8) {
				l.width, l.height = sizeOfWebP(kind, body[:n])
			}
		}
		offset += 8 + length + length&1 // chunks begin at even offsets
	}
	return l, nil
}

// sizeOfWebP reads the size from the header of an image chunk.
func sizeOfWebP(kind string, b []byte) (width, height int) {
	switch {
	case kind == "VP8X" && len(b) >= 10:
		return 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16, 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16
	case kind == "VP8 " && len(b) >= 10:
		return int(binary.LittleEndian.Uint16(b[6:])) & 0x3FFF, int(binary.LittleEndian.Uint16(b[8:])) & 0x3FFF
	case kind == "VP8L" && len(b) >= 5 && b[0] == 0x2F:
		bits := binary.LittleEndian.Uint32(b[1:])
		return 1 + int(bits&0x3FFF), 1 + int(bits>>14&0x3FFF)
	}
	return 0, 0
}

// exifOfWebP skips the JPEG-style header that some writers add.
func exifOfWebP(s *source, offset, length int64) *io.SectionReader {
	if n := int64(len(exifHeader)); s.begins(exifHeader, offset, length) {
		return s.section(offset+n, length-n)
	}
	return s.section(offset, length)
}
