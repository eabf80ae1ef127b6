package csvtext

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"transect/client/fault"
)

// Reader reads rows of equal length. It is for one goroutine at a time.
type Reader struct {
	in    *csv.Reader
	quote byte
	trim  bool
	width int // of every row; 0 until known
	past  int // lines left out before the first row
	line  int
	over  bool
}

// NewReader begins to read. A mark at the start says how the text is written,
// and does not count.
func NewReader(r io.Reader, d Dialect) (*Reader, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	buffered := decoded(r, d.Encoding)
	past := 0
	for range d.Skip {
		for more := true; more; { // a line longer than the buffer comes in pieces
			_, err := buffered.ReadSlice('\n')
			more = err == bufio.ErrBufferFull
		}
		past++
	}
	in := csv.NewReader(&swapReader{buffered, d.Quote})
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = rune(d.Separator), -1, true
	in.TrimLeadingSpace = d.Trim && d.Separator != '\t' && d.Separator != ' '
	in.Comment = rune(d.Comment)
	return &Reader{in: in, quote: d.Quote, trim: d.Trim, past: past}, nil
}

// SetWidth says how many fields every row has; else the first row decides.
func (r *Reader) SetWidth(n int) { r.width = n }

// Line is where the row read last begins, from 1.
func (r *Reader) Line() int { return r.line }

// Over says that there is nothing more: the end was reached, or an error.
func (r *Reader) Over() bool { return r.over }

// Read gives the next row, nil at the end. It is overwritten by the next one.
// A row of another length, or with quotes that do not end well, is a
// ValueError that says where.
func (r *Reader) Read() ([]string, error) {
	if r.over {
		return nil, nil
	}
	record, err := r.in.Read()
	if err == nil {
		r.line, _ = r.in.FieldPos(0)
		r.line += r.past
		for i, field := range record {
			field = swapped(field, r.quote, '"')
			if r.trim {
				field = strings.TrimSpace(field)
			}
			record[i] = field
		}
		if r.width == 0 {
			r.width = len(record)
		}
		if len(record) != r.width {
			err = fault.Hinted(fault.Of(&fault.ValueError{}, "line %d has %d fields, not %d as those before it", r.line, len(record), r.width),
				"is a field with a separator not quoted, or the separator another one?")
		}
	}
	if err == nil {
		return record, nil
	}
	r.over = true
	if err == io.EOF {
		return nil, nil
	}
	return nil, r.explain(err)
}

// Header takes the names of the columns from the first row. Columns without
// one are named by their place, column_2; one named twice is a ValueError. Of
// an empty text there are none.
func (r *Reader) Header() ([]string, error) {
	record, err := r.Read()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	names := []string{}
	for i, name := range record {
		if name == "" {
			name = "column_" + strconv.Itoa(i+1)
		}
		if seen[name] {
			return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "line %d names the column %q twice", r.line, name), "name the columns with header")
		}
		seen[name] = true
		names = append(names, name)
	}
	return names, nil
}

func (r *Reader) explain(err error) error {
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		why := bad.Err.Error()
		switch {
		case errors.Is(bad.Err, csv.ErrQuote) && bad.StartLine != bad.Line:
			why = fmt.Sprintf("the quoted field that begins in line %d does not end well", bad.StartLine+r.past)
		case errors.Is(bad.Err, csv.ErrQuote):
			why = "a quoted field does not end where it should"
		case errors.Is(bad.Err, csv.ErrBareQuote):
			why = "a quote stands inside a field that is not quoted"
		}
		return fault.Hinted(fault.Of(&fault.ValueError{}, "line %d, column %d: %s", bad.Line+r.past, bad.Column, why),
			`inside a quoted field a quote is written twice; quote = "" when quotes mean nothing`)
	}
	if fault.Find(err) == nil {
		err = fault.Of(&fault.FileError{}, "cannot be read on: %w", err)
	}
	return err
}
