package csvtext

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"transect/client/fault"
	"transect/client/human"
)

// Reader reads rows of equal length. It is not safe for concurrent use.
type Reader struct {
	// Fits is called before n bytes are allocated for a long row; optional.
	Fits func(n int) error

	row     int // bytes read since the previous row
	checked int // the value of row at the last call of Fits
	in      *csv.Reader
	dialect Dialect
	line    int
	over    bool // reached the end, or an error
}

// NewReader returns a Reader of r. A byte order mark determines the encoding and is skipped.
func NewReader(r io.Reader, d Dialect) (*Reader, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	buffered := decoded(r, d.Encoding)
	for range d.Skip {
		for more := true; more; { // a line longer than the buffer arrives in pieces
			_, err := buffered.ReadSlice('\n')
			more = err == bufio.ErrBufferFull
		}
	}
	out := &Reader{dialect: d}
	in := csv.NewReader(&swapReader{buffered, out})
	in.Comma, in.ReuseRecord = rune(d.Separator), true
	in.TrimLeadingSpace = d.Trim && d.Separator != '\t' && d.Separator != ' '
	in.Comment = rune(d.Comment)
	out.in = in
	return out, nil
}

// swapReader exchanges quotes for encoding/csv, and stops at a row that does not fit into memory.
type swapReader struct {
	io.Reader
	to *Reader
}

const (
	longRow  = 256 << 10 // bytes from which rows are charged to the memory limit
	rowParts = 3         // the row, its buffer while it grows, and its fields
)

func (r *swapReader) Read(p []byte) (int, error) {
	if t := r.to; t.Fits != nil && t.row > max(longRow, t.checked+t.checked/4) {
		t.checked = t.row
		if err := t.Fits(rowParts * t.row); err != nil {
			return 0, err
		}
	}
	n, err := r.Reader.Read(p)
	r.to.row += n
	if r.to.dialect.Quote != '"' {
		r.to.dialect.swap(p[:n])
	}
	return n, err
}

// SetWidth sets the number of fields in every row; otherwise the first row determines it.
func (r *Reader) SetWidth(n int) { r.in.FieldsPerRecord = n }

// Line returns the line on which the last row began, from 1.
func (r *Reader) Line() int { return r.line }

// Read returns the next row, nil at the end. The next call overwrites it. A row of another length, or with
// unbalanced quotes, is a ValueError with its position.
func (r *Reader) Read() ([]string, error) {
	if r.over {
		return nil, nil
	}
	record, err := r.in.Read()
	r.row, r.checked = 0, 0
	switch {
	case err == io.EOF:
		r.over = true
		return nil, nil
	case err != nil:
		r.over = true
		return nil, r.explain(err, len(record))
	}
	r.line, _ = r.in.FieldPos(0)
	r.line += r.dialect.Skip
	for i, field := range record {
		if record[i] = r.dialect.swapped(field); r.dialect.Trim {
			record[i] = strings.TrimSpace(record[i])
		}
	}
	return record, nil
}

// Header reads the column names from the first row. Columns without one are named by position, column_2; a
// duplicate is a ValueError. An empty text has no columns.
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
			return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "line %d names the column %q twice", r.line, name),
				"name the columns with header")
		}
		seen[name] = true
		names = append(names, name)
	}
	return names, nil
}

func (r *Reader) explain(err error, fields int) error {
	if bad, ok := errors.AsType[*csv.ParseError](err); ok {
		skip, why := r.dialect.Skip, bad.Err.Error()
		switch {
		case errors.Is(bad.Err, csv.ErrFieldCount):
			return fault.Hinted(fault.Of(&fault.ValueError{}, "line %d has %s, the lines before it have %d", bad.StartLine+skip,
				human.Count(fields, "field"), r.in.FieldsPerRecord),
				"check the separator, and that fields that contain it are quoted")
		case errors.Is(bad.Err, csv.ErrQuote) && bad.StartLine != bad.Line:
			why = fmt.Sprintf("the quoted field that begins in line %d is malformed", bad.StartLine+skip)
		case errors.Is(bad.Err, csv.ErrQuote):
			why = "a quoted field does not end where it should"
		case errors.Is(bad.Err, csv.ErrBareQuote):
			why = "there is a quote inside a field that is not quoted"
		}
		return fault.Hinted(fault.Of(&fault.ValueError{}, "line %d, column %d: %s", bad.Line+skip, bad.Column, why),
			`inside a quoted field a quote is written twice; quote = "" when quotes mean nothing`)
	}
	if fault.Find(err) == nil {
		err = fault.Of(&fault.FileError{}, "cannot be read further: %w", err)
	}
	return err
}

// Types lists the types of columns.
var Types = []string{"string", "number", "integer", "boolean"}

// Value converts a field to a type: string, float64, json.Number for an integer of any size up to 64 bits,
// bool; nil for an empty field, unless it is text. ok is false when the conversion fails.
func (r *Reader) Value(typ, field string) (v any, ok bool) {
	text := strings.TrimSpace(field)
	switch {
	case typ == "" || typ == "string":
		return field, true
	case text == "":
		return nil, true
	case typ == "number":
		if decimal := r.dialect.Decimal; decimal != '.' {
			if strings.Contains(text, ".") {
				return nil, false
			}
			text = strings.Replace(text, string(rune(decimal)), ".", 1)
		}
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	case typ == "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return json.Number(strconv.FormatInt(n, 10)), err == nil
	}
	switch strings.ToLower(text) {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0":
		return false, true
	}
	return nil, false
}
