// Package csvtext reads and writes CSV dialects on top of encoding/csv: other quotes, character encodings,
// byte order marks, CRLF, typed columns. The Lua module csv uses it. Begin reading at NewReader and
// NewWriter.
//
// The dialects are handled here because encoding/csv has a fixed quote character and supports only UTF-8.
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

// Dialect defines the format of rows.
type Dialect struct {
	Separator byte // between fields
	Quote     byte // around fields; 0 when quotes mean nothing, for reading only
	Comment   byte // lines that begin with it are skipped; 0 for none; for reading
	Decimal   byte // in numbers; for reading
	Trim      bool // ignore spaces around fields; for reading
	Skip      int  // lines to skip before the first row; for reading
	CRLF      bool // end lines as on Windows; for writing
	BOM       bool // begin with the UTF-8 byte order mark, which spreadsheets need; for writing

	Encoding string // of the text, one of Encodings; UTF8 when empty
}

// check refuses characters with two meanings.
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

// swap exchanges the quote of a dialect with the usual one, for encoding/csv.
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

// UTF8 is the default encoding.
const UTF8 = "utf-8"

// Encodings lists the supported encodings.
var Encodings = []string{UTF8, "utf-16", "latin1", "windows-1252"}

// encodingOf returns an encoding by name. UTF-16 is read by its byte order mark, and written with one.
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

// decoded returns a reader that converts to UTF-8. A byte order mark overrides the named encoding.
func decoded(r io.Reader, name string) *bufio.Reader {
	r = bufio.NewReaderSize(r, 64<<10) // the transformer reads in small pieces
	return bufio.NewReader(transform.NewReader(r, unicode.BOMOverride(encodingOf(name).NewDecoder())))
}

// encoded returns a writer that converts UTF-8 to another encoding.
func encoded(w io.Writer, name string) io.Writer {
	if e := encodingOf(name); e != encoding.Nop {
		return transform.NewWriter(w, e.NewEncoder())
	}
	return w
}

// unwritable explains the error for a character missing in an encoding.
func unwritable(err error, name string) error {
	var none interface{ Replacement() byte } // implemented by this error of package encoding
	if !errors.As(err, &none) {
		return err
	}
	return fault.Hinted(fault.Of(&fault.ValueError{}, "a character cannot be written in %s", name),
		"leave encoding out, for UTF-8, which has them all")
}
