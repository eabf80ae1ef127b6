// Package csvtext reads and writes CSV dialects on top of encoding/csv: other
// quotes, character encodings, byte order marks, CRLF, typed columns. The Lua
// module csv is its caller. Begin reading at NewReader and NewWriter.
//
// The dialects are handled here because encoding/csv has a fixed quote character
// and knows UTF-8 only.
package csvtext

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"transect/client/fault"
)

// Dialect is how rows are written.
type Dialect struct {
	Separator byte // between fields
	Quote     byte // around fields; 0 when quotes mean nothing, for reading only
	Comment   byte // lines that begin with it are skipped; 0 for none; for reading
	Decimal   byte // in numbers; for reading
	Trim      bool // spaces around fields do not count; for reading
	Skip      int  // lines before the first row; for reading
	CRLF      bool // lines end as on Windows; for writing
	BOM       bool // begin with the UTF-8 byte order mark, which spreadsheets need; for writing

	Encoding string // of the text, one of Encodings; UTF8 when empty
}

// check refuses characters that are used twice.
func (d Dialect) check() error {
	if d.Quote == d.Separator || d.Separator == '"' || d.Separator == 0 {
		quote := strings.Trim(string(rune(d.Quote)), "\x00")
		return fault.Of(&fault.ParameterError{}, "separator %q and quote %q cannot be used together",
			string(rune(d.Separator)), quote)
	}
	if d.Comment != 0 && (d.Comment == d.Separator || d.Comment == d.Quote) {
		return fault.Of(&fault.ParameterError{}, "option comment must differ from separator and quote")
	}
	return nil
}

// swap exchanges the quote of a dialect with the usual one: encoding/csv sees the
// text through it.
func (d Dialect) swap(text []byte) {
	for i, ch := range text {
		switch ch {
		case d.Quote:
			text[i] = '"'
		case '"':
			text[i] = d.Quote
		}
	}
}

func (d Dialect) swapped(field string) string {
	if d.Quote == '"' || strings.IndexByte(field, d.Quote) < 0 && strings.IndexByte(field, '"') < 0 {
		return field
	}
	text := []byte(field)
	d.swap(text)
	return string(text)
}

// UTF8 is the encoding of texts unless something else is said.
const UTF8 = "utf-8"

// Encodings are the encodings texts may have.
var Encodings = []string{UTF8, "utf-16", "latin1", "windows-1252"}

// encodingOf finds the tables of an encoding. UTF-16 is read by its byte order
// mark, and written with one.
func encodingOf(name string) encoding.Encoding {
	switch name {
	case "utf-16":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "latin1":
		return charmap.ISO8859_1
	case "windows-1252":
		return charmap.Windows1252
	}
	return encoding.Nop
}

// decoded reads a text as UTF-8. A mark at its start says how it is written,
// whatever was expected.
func decoded(r io.Reader, name string) *bufio.Reader {
	r = bufio.NewReaderSize(r, 64<<10) // the transformer reads little at a time
	return bufio.NewReader(transform.NewReader(r, unicode.BOMOverride(encodingOf(name).NewDecoder())))
}

// encoded writes UTF-8 as another encoding.
func encoded(w io.Writer, name string) io.Writer {
	if e := encodingOf(name); e != encoding.Nop {
		return transform.NewWriter(w, e.NewEncoder())
	}
	return w
}

// unwritable explains a character that an encoding does not have.
func unwritable(err error, name string) error {
	var none interface{ Replacement() byte } // what errors of the package have that say so
	if !errors.As(err, &none) {
		return err
	}
	return fault.Hinted(fault.Of(&fault.ValueError{}, "a character cannot be written in %s", name),
		"leave encoding out, for UTF-8, which has them all")
}
