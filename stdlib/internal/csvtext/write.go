package csvtext

import (
	"bufio"
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"transect/client/fault"
)

// Writer writes rows. It is not safe for concurrent use.
type Writer struct {
	out     *csv.Writer
	buffer  *bufio.Writer
	dialect Dialect
}

// NewWriter returns a Writer to w; call Flush at the end.
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
	out := csv.NewWriter(&swapWriter{buffer, d})
	out.Comma, out.UseCRLF = rune(d.Separator), d.CRLF
	if d.BOM {
		_, _ = buffer.WriteString("\xef\xbb\xbf") // the buffer keeps the error
	}
	return &Writer{out, buffer, d}, nil
}

// swapWriter is the reverse of swapReader.
type swapWriter struct {
	io.Writer
	dialect Dialect
}

func (w *swapWriter) Write(p []byte) (int, error) {
	if w.dialect.Quote != '"' {
		p = slices.Clone(p)
		w.dialect.swap(p)
	}
	return w.Writer.Write(p)
}

// Write writes one row.
func (w *Writer) Write(record []string) error {
	var err error
	if len(record) == 1 && record[0] == "" { // an empty line would not be a row
		w.out.Flush()
		end := "\n"
		if w.dialect.CRLF {
			end = "\r\n"
		}
		_, err = w.buffer.WriteString(strings.Repeat(string(rune(w.dialect.Quote)), 2) + end)
	} else {
		if w.dialect.Quote != '"' {
			record = slices.Clone(record)
			for i := range record {
				record[i] = w.dialect.swapped(record[i])
			}
		}
		err = w.out.Write(record)
	}
	return unwritable(err, w.dialect.Encoding)
}

// Flush writes buffered rows to the underlying writer.
func (w *Writer) Flush() error {
	w.out.Flush()
	err := w.out.Error()
	if err == nil {
		err = w.buffer.Flush()
	}
	return unwritable(err, w.dialect.Encoding)
}
