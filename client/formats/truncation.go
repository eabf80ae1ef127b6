package formats

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Truncation returns evidence that an item's file lacks its end, "" for none. format is the item's,
// component the file's.
func Truncation(file File, format, component string) string {
	f := named(format)
	switch component {
	case "index":
		f = named("shx")
	case "database":
		f = named("dbf")
	case "archive", "file": // any archive
		head, _ := file.Head(headSize)
		f = find(func(f *Format) bool { return f.kind == "file" && f.begins(head) })
	case "raster", "pcl", "mesh", "vector":
	default:
		return ""
	}
	if f.truncated == nil {
		return ""
	}
	return f.truncated(file.Data, file.Size)
}

func tooShort(size, want int64) string {
	if size >= want {
		return ""
	}
	return fmt.Sprintf("it has %d bytes and by its header should have %d: its end is missing", size, want)
}

const headerCut = "it ends within its header"

// byHeader compares the size of a file with the one in its header, if any.
func byHeader(length int, want func(head []byte) int64) func(f io.ReaderAt, size int64) string {
	return func(f io.ReaderAt, size int64) string {
		head := make([]byte, length)
		if n, _ := f.ReadAt(head, 0); n < length {
			return headerCut
		}
		return tooShort(size, want(head))
	}
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
