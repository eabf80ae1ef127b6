// Package csvtext reads and writes CSV dialects on top of encoding/csv: other
// quotes, character encodings, byte order marks, CRLF, typed columns. The Lua
// module csv is its caller. Begin reading at NewReader and NewWriter.
//
// The dialects are handled here because encoding/csv has a fixed quote character
// and knows UTF-8 only.
package csvtext

import (
	"io"
	"strings"

	"transect/client/fault"
)

// Dialect is how rows are written.
type Dialect struct {
	Separator byte // between fields
	Quote     byte // around fields; 0 when quotes mean nothing, for reading only
	Comment   byte // lines that begin with it are passed over; 0 for none; for reading
	Trim      bool // spaces around fields do not count; for reading
	Skip      int  // lines before the first row; for reading
	CRLF      bool // lines end as on Windows; for writing
	BOM       bool // begin with the UTF-8 byte order mark, which spreadsheets need; for writing

	Encoding string // of the text, one of Encodings; UTF8 when empty
}

// check refuses what cannot be told apart.
func (d Dialect) check() error {
	if d.Quote == d.Separator || d.Separator == '"' || d.Separator == 0 {
		quote := ""
		if d.Quote != 0 {
			quote = string(rune(d.Quote))
		}
		return fault.Of(&fault.ParameterError{}, "separator %q and quote %q cannot be used together", string(rune(d.Separator)), quote)
	}
	if d.Comment != 0 && (d.Comment == d.Separator || d.Comment == d.Quote) {
		return fault.Of(&fault.ParameterError{}, "option comment must differ from separator and quote")
	}
	return nil
}

// swap exchanges two bytes: a text with another quote, seen through it, is one
// with the usual quote.
func swap(text []byte, a, b byte) {
	if a == b {
		return
	}
	for i, ch := range text {
		switch ch {
		case a:
			text[i] = b
		case b:
			text[i] = a
		}
	}
}

func swapped(text string, a, b byte) string {
	if a == b || strings.IndexByte(text, a) < 0 && strings.IndexByte(text, b) < 0 {
		return text
	}
	bytes := []byte(text)
	swap(bytes, a, b)
	return string(bytes)
}

// swapReader lets a text with another quote be read as one with the usual.
type swapReader struct {
	io.Reader
	quote byte
}

func (r *swapReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	swap(p[:n], r.quote, '"')
	return n, err
}

// swapWriter is the reverse of swapReader.
type swapWriter struct {
	io.Writer
	quote byte
}

func (w *swapWriter) Write(p []byte) (int, error) {
	if w.quote == '"' {
		return w.Writer.Write(p)
	}
	other := append([]byte(nil), p...)
	swap(other, w.quote, '"')
	return w.Writer.Write(other)
}
