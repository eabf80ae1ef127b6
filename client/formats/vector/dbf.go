package vector

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// The table of a shapefile (dBASE III to VII, as far as shapefiles use it). A damaged one costs the
// attributes, not the shapes.

// rows reads the table, one row per shape.
type rows struct {
	in      *bufio.Reader
	columns []dbfColumn
	left    uint32
	row     []byte
	decode  func([]byte) string
}

type dbfColumn struct {
	name   string
	kind   byte
	length int
}

// openRows opens a table with texts in the code page named in the .cpg file, "" without one; it returns
// nil for an unreadable table.
func openRows(ctx context.Context, f File, codePage string) *rows {
	in := bufio.NewReaderSize(f.Reader(ctx), 64<<10)
	var head [32]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil
	}
	header, record := int(little.Uint16(head[8:])), int(little.Uint16(head[10:]))
	fields := make([]byte, max(0, header-32))
	if _, err := io.ReadFull(in, fields); err != nil || record == 0 {
		return nil
	}
	r := &rows{in: in, left: little.Uint32(head[4:]), row: make([]byte, record), decode: decoder(codePage, head[29])}
	used := 1 // the deletion flag
	for ; len(fields) >= 32 && fields[0] != '\r' && len(r.columns) < maxColumns; fields = fields[32:] {
		name, _, _ := bytes.Cut(fields[:11], []byte{0})
		c := dbfColumn{r.decode(name), fields[11], int(fields[16])}
		if used += c.length; used > record {
			return nil
		}
		r.columns = append(r.columns, c)
	}
	return r
}

// next returns the next row, nil without one.
func (r *rows) next() json.RawMessage {
	if r == nil || r.left == 0 {
		return nil
	}
	if _, err := io.ReadFull(r.in, r.row); err != nil {
		r.left = 0
		return nil
	}
	r.left--
	var list attributeList
	values := r.row[1:]
	for _, c := range r.columns {
		list.add(c.name, c.value(values[:c.length], r.decode))
		values = values[c.length:]
	}
	return list.object()
}

func (c dbfColumn) value(b []byte, decode func([]byte) string) any {
	text := strings.Trim(string(b), " \x00")
	switch c.kind {
	case 'N', 'F':
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
		return nil // asterisks mark a number that was too long
	case 'L':
		switch strings.ToUpper(text) {
		case "T", "Y":
			return true
		case "F", "N":
			return false
		}
		return nil
	case 'D':
		if len(text) == 8 && text != "00000000" {
			return text[:4] + "-" + text[4:6] + "-" + text[6:]
		}
		return nil
	case 'I':
		if len(b) == 4 {
			return int32(little.Uint32(b))
		}
		return nil
	case 'O':
		if len(b) == 8 {
			return math.Float64frombits(little.Uint64(b))
		}
		return nil
	case 'C':
		return decode(bytes.TrimRight(b, " \x00"))
	}
	return nil // a memo is stored in another file
}

// decoder returns a decoder of texts: as UTF-8 if valid, else in a code page by name, or by the number
// in the table's header, with Western as the default.
func decoder(codePage string, number byte) func([]byte) string {
	page := charmapOf(codePage)
	if page == nil {
		page = charmapOf(map[byte]string{0x01: "437", 0x02: "850", 0x64: "852", 0x65: "866", 0xc8: "1250", 0xc9: "1251",
			0xca: "1254", 0xcb: "1253"}[number])
	}
	if page == nil {
		page = charmap.Windows1252
	}
	return func(b []byte) string {
		if utf8.Valid(b) {
			return string(b)
		}
		text, _ := page.NewDecoder().Bytes(b) // every byte can be decoded
		return string(text)
	}
}

// charmapOf returns the code page for a name like "1252", "ISO-8859-1" or "cp437".
func charmapOf(name string) *charmap.Charmap {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, name)
	if len(digits) < 3 {
		return nil
	}
	for _, e := range charmap.All {
		page, ok := e.(*charmap.Charmap)
		if ok && strings.HasSuffix(strings.NewReplacer(" ", "", "-", "").Replace(page.String()), digits) {
			return page
		}
	}
	return nil
}
