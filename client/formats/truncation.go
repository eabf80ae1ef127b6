package formats

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"

	"transect/client/formats/imagery"
)

// Truncation returns evidence that an item's file lacks its end, "" for none. format is the item's,
// component the file's.
func Truncation(file File, format, component string) string {
	f, size := file.Data, file.Size
	switch component {
	case "index":
		return byHeader(f, size, 28, shapeSize)
	case "database":
		return byHeader(f, size, 12, tableSize)
	case "raster":
		if format == "geotiff" || format == "tiff" {
			switch imagery.CauseOf(imagery.CheckTIFF(f, size)) {
			case imagery.Truncated:
				return "it points at pixels past its end: its end is missing"
			case imagery.Damaged:
				return "its directory gives no size"
			}
		}
		if format == "jpeg" || format == "png" || format == "webp" {
			if _, err := imagery.ReadFrom(f, size); imagery.CauseOf(err) == imagery.Truncated {
				return "the end of the picture is missing"
			}
		}
	case "archive", "file":
		return truncatedArchive(f, size)
	case "pcl", "mesh", "vector":
		switch format {
		case "las", "laz":
			return truncatedLAS(f, size, format == "laz")
		case "shapefile":
			return byHeader(f, size, 28, shapeSize)
		case "glb":
			return byHeader(f, size, 12, glbSize)
		case "geopackage":
			return byHeader(f, size, 100, sqliteSize)
		case "geojson", "topojson", "gltf":
			return openObject(f, size)
		case "kml", "gpx", "gml", "collada":
			return openElement(f, size)
		}
	}
	return ""
}

func tooShort(size, want int64) string {
	if size >= want {
		return ""
	}
	return fmt.Sprintf("it has %d bytes and by its header should have %d: its end is missing", size, want)
}

const headerCut = "it ends within its header"

// truncatedLAS evaluates the public header block (LAS 1.4 R15): offset, size and number of the
// points. Compressed points have no fixed size, but the offset of their chunk table, which comes
// last. It does not use the point cloud reader, which refuses versions and compressions that can be
// truncated as well.
func truncatedLAS(f io.ReaderAt, size int64, compressed bool) string {
	head := make([]byte, 375)
	n, _ := f.ReadAt(head, 0)
	if n < 227 {
		return headerCut
	}
	points := int64(binary.LittleEndian.Uint32(head[96:]))
	length := int64(binary.LittleEndian.Uint16(head[105:]))
	count := uint64(binary.LittleEndian.Uint32(head[107:]))
	if head[25] >= 4 && n >= 255 {
		if long := binary.LittleEndian.Uint64(head[247:]); long > 0 {
			count = long
		}
	}
	switch {
	case points > size:
		return headerCut
	case count == 0:
		return ""
	case !compressed:
		if length > 0 && count > math.MaxInt64/2/uint64(length) {
			return "its header counts more points than any file can hold"
		}
		return tooShort(size, points+length*int64(count))
	}
	if pointwise(f, points) {
		return ""
	}
	var table [8]byte
	if n, _ := f.ReadAt(table[:], points); n < len(table) {
		return headerCut
	}
	at := int64(binary.LittleEndian.Uint64(table[:]))
	if at == -1 { // written in one pass, so the offset is in the last bytes
		if n, _ := f.ReadAt(table[:], size-8); n < len(table) {
			return headerCut
		}
		at = int64(binary.LittleEndian.Uint64(table[:]))
	}
	if at < points || at+8 > size {
		return "the offset of its chunk table is past its end: its end is missing"
	}
	return ""
}

// pointwise reports whether points are compressed individually, so that a file has no chunk table
// (LASzip, "The LAZ Compression", compressor 1). points is their offset.
func pointwise(f io.ReaderAt, points int64) bool {
	const record = 54 // bytes of a record header, with the owner's name at byte 2
	head := make([]byte, min(points, 64<<10))
	n, _ := f.ReadAt(head, 0)
	_, rest, found := bytes.Cut(head[:n], []byte("laszip encoded"))
	at := record - 2 - len("laszip encoded")
	return found && len(rest) >= at+2 && binary.LittleEndian.Uint16(rest[at:]) == 1
}

// byHeader compares the size of a file with the one in its header, if any.
func byHeader(f io.ReaderAt, size int64, length int, want func(head []byte) int64) string {
	head := make([]byte, length)
	if n, _ := f.ReadAt(head, 0); n < length {
		return headerCut
	}
	return tooShort(size, want(head))
}

// shapeSize returns the size in the header of .shp and .shx, stored in 16-bit words.
func shapeSize(head []byte) int64 {
	if binary.BigEndian.Uint32(head) != 9994 {
		return 0
	}
	return 2 * int64(binary.BigEndian.Uint32(head[24:]))
}

// tableSize returns the size by a dBASE header: number of records, lengths of header and record.
func tableSize(head []byte) int64 {
	return int64(binary.LittleEndian.Uint16(head[8:])) +
		int64(binary.LittleEndian.Uint32(head[4:]))*int64(binary.LittleEndian.Uint16(head[10:]))
}

// sqliteSize returns the size in pages times their size, if the header marks it as valid.
func sqliteSize(head []byte) int64 {
	page := int64(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 1 << 16
	}
	if !bytes.Equal(head[24:28], head[92:96]) {
		return 0
	}
	return page * int64(binary.BigEndian.Uint32(head[28:]))
}

func glbSize(head []byte) int64 { return int64(binary.LittleEndian.Uint32(head[8:])) }

// truncatedArchive searches for the table of contents, which comes last in zip files and is
// referenced by the header of 7z files.
func truncatedArchive(f io.ReaderAt, size int64) string {
	head := make([]byte, 32)
	n, _ := f.ReadAt(head, 0)
	switch {
	case bytes.HasPrefix(head[:n], []byte("PK\x03\x04")):
		if end, err := zipEnd(f, size); err == nil && end == nil {
			return "the table of contents at the end of the zip is missing"
		}
	case bytes.HasPrefix(head[:n], []byte("7z\xbc\xaf\x27\x1c")):
		if n < 32 {
			return headerCut
		}
		offset, length := binary.LittleEndian.Uint64(head[12:]), binary.LittleEndian.Uint64(head[20:])
		if offset < math.MaxInt64/4 && length < math.MaxInt64/4 {
			return tooShort(size, 32+int64(offset+length))
		}
	}
	return ""
}

// lastOf returns the last 1,024 bytes without trailing blanks.
func lastOf(f io.ReaderAt, size int64) string {
	tail := make([]byte, min(size, 1024))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return ""
	}
	return strings.TrimRight(string(tail), " \t\r\n\x00")
}

// maxBalanced is the size up to which JSON is read completely to check that its brackets are
// closed; of longer texts only the last character is checked.
const maxBalanced = 256 << 20

// openObject reports JSON that ends before its object does.
func openObject(f io.ReaderAt, size int64) string {
	text := lastOf(f, size)
	if text != "" && !strings.HasSuffix(text, "}") {
		return "it does not end with }: its end is missing"
	}
	if size > maxBalanced {
		return ""
	}
	depth, quoted, escaped := 0, false, false
	buffer := make([]byte, 256<<10)
	for at := int64(0); at < size; {
		n, err := f.ReadAt(buffer, at)
		for _, c := range buffer[:n] {
			switch {
			case escaped:
				escaped = false
			case quoted:
				escaped, quoted = c == '\\', c != '"'
			case c == '"':
				quoted = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				depth--
			}
		}
		if at += int64(n); err != nil {
			break
		}
	}
	if depth > 0 {
		return fmt.Sprintf("%d of its brackets are not closed: its end is missing", depth)
	}
	return ""
}

// openElement reports XML that does not end with the tag of its first element.
func openElement(f io.ReaderAt, size int64) string {
	head := make([]byte, min(size, 64<<10))
	n, _ := f.ReadAt(head, 0)
	decoder := xml.NewDecoder(bytes.NewReader(head[:n]))
	decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return "" // another reader reports errors
		}
		if root, ok := token.(xml.StartElement); ok {
			name := root.Name.Local
			if root.Name.Space != "" {
				name = root.Name.Space + ":" + name
			}
			return withoutEnd(lastOf(f, size), name)
		}
	}
}

// withoutEnd reports a tail without the element's end tag; comments may follow the tag.
func withoutEnd(tail, name string) string {
	_, after, closed := cutLast(tail, "</"+name)
	if closed && strings.Contains(after, ">") || strings.HasSuffix(tail, "/>") && !strings.Contains(tail, "</") ||
		strings.HasSuffix(tail, "-->") {
		return ""
	}
	return "it does not end with </" + name + ">: its end is missing"
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
