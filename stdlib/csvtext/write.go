package csvtext

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"

	"transect/client/fault"
)

// Writer writes rows. It is for one goroutine at a time.
type Writer struct {
	out    *csv.Writer
	buffer *bufio.Writer
	quote  byte
	crlf   bool

	encoding string
}

// NewWriter begins to write; Flush ends it.
func NewWriter(w io.Writer, d Dialect) (*Writer, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if d.Quote == 0 {
		return nil, fault.Of(&fault.ParameterError{}, "option quote must be one character for writing")
	}
	if d.BOM && d.Encoding != "" && d.Encoding != UTF8 {
		return nil, fault.Of(&fault.ParameterError{}, "option bom is for UTF-8, not for %s", d.Encoding)
	}
	buffer := bufio.NewWriterSize(encoded(w, d.Encoding), 64<<10)
	out := &Writer{encoding: d.Encoding, out: csv.NewWriter(&swapWriter{buffer, d.Quote}), buffer: buffer, quote: d.Quote, crlf: d.CRLF}
	out.out.Comma, out.out.UseCRLF = rune(d.Separator), d.CRLF
	if d.BOM {
		_, _ = buffer.WriteString("\xef\xbb\xbf") // an error stays in the buffer
	}
	return out, nil
}

// Write writes one row. The row is changed.
func (w *Writer) Write(record []string) error {
	if len(record) == 1 && record[0] == "" { // an empty line would be no row
		w.out.Flush()
		end := "\n"
		if w.crlf {
			end = "\r\n"
		}
		_, err := w.buffer.WriteString(strings.Repeat(string(rune(w.quote)), 2) + end)
		return unwritable(err, w.encoding)
	}
	for i := range record {
		record[i] = swapped(record[i], w.quote, '"')
	}
	return unwritable(w.out.Write(record), w.encoding)
}

// Flush hands on what is written so far.
func (w *Writer) Flush() error {
	w.out.Flush()
	if err := w.out.Error(); err != nil {
		return unwritable(err, w.encoding)
	}
	return unwritable(w.buffer.Flush(), w.encoding)
}
