package stdlib

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// csvTable reads rows.
type csvTable struct {
	mu      sync.Mutex // several tasks may read from one
	in      *csv.Reader
	name    string // of the file, for messages
	file    *os.File
	quote   byte
	trim    bool
	header  []string // nil for lists
	types   map[string]string
	byPlace []string // the type of each column
	width   int      // of every row; 0 until known
	line    int
	over    bool
}

// newTable reads the options and the header.
func newTable(c *vm.Call, r io.Reader) (*csvTable, error) {
	separator, quote, err := dialect(c)
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewReaderSize(r, 64<<10)
	if start, _ := buffered.Peek(3); bytes.Equal(start, []byte("\xef\xbb\xbf")) {
		_, _ = buffered.Discard(3)
	} else if bytes.HasPrefix(start, []byte("\xff\xfe")) || bytes.HasPrefix(start, []byte("\xfe\xff")) {
		return nil, fault.Hinted(fault.Of(&fault.ValueError{}, "the text is UTF-16"), "save it as UTF-8")
	}
	t := &csvTable{in: csv.NewReader(&swapReader{buffered, quote}), quote: quote, trim: c.Bool("trim"), types: map[string]string{}}
	t.in.Comma, t.in.FieldsPerRecord, t.in.ReuseRecord = rune(separator), -1, true
	t.in.TrimLeadingSpace = t.trim && separator != '\t' && separator != ' '
	if c.Has("comment") {
		comment, err := one(c, "comment")
		if err != nil || comment == separator || comment == quote {
			return nil, errors.Join(err, fault.Of(&fault.ParameterError{}, "option comment must differ from separator and quote"))
		}
		t.in.Comment = rune(comment)
	}
	if err := t.readTypes(c.Table("types")); err != nil {
		return nil, err
	}
	switch h := c.Value("header").(type) {
	case *lua.LTable:
		t.header, err = columnList(h)
	case lua.LBool:
		if bool(h) {
			err = c.Blocking(func(context.Context) error { return t.readHeader() })
		}
	}
	if err != nil {
		return nil, err
	}
	return t, t.place()
}

// readHeader takes the names from the first row. Columns without one are named
// by their place.
func (t *csvTable) readHeader() error {
	record, err := t.read()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	t.header = []string{}
	for i, name := range record {
		if name == "" {
			name = "column_" + strconv.Itoa(i+1)
		}
		if seen[name] {
			return fault.Hinted(fault.Of(&fault.ValueError{}, "line %d names the column %q twice", t.line, name), "name the columns with header")
		}
		seen[name] = true
		t.header = append(t.header, name)
	}
	return nil
}

func (t *csvTable) readTypes(types *lua.LTable) error {
	if types == nil {
		return nil
	}
	var err error
	known := []string{"string", "number", "integer", "boolean"}
	types.ForEach(func(k, v lua.LValue) {
		name := v.String()
		for _, ok := range known {
			if name == ok {
				t.types[k.String()] = name
				return
			}
		}
		err = fault.Of(&fault.ParameterError{}, "option types: column %s must be one of %s, got %q%s", k, strings.Join(known, ", "), name, vm.Suggestion(name, known))
	})
	return err
}

// place finds the columns that types names.
func (t *csvTable) place() error {
	if t.header == nil {
		return nil
	}
	t.width = len(t.header)
	t.byPlace = make([]string, len(t.header))
	left := make(map[string]bool, len(t.types))
	for name := range t.types {
		left[name] = true
	}
	for i, name := range t.header {
		t.byPlace[i] = t.types[name]
		delete(left, name)
	}
	if len(left) == 0 || t.over { // an empty file has no columns
		return nil
	}
	var unknown []string
	for name := range left {
		unknown = append(unknown, name)
	}
	sort.Strings(unknown)
	return fault.Hinted(fault.Of(&fault.ParameterError{}, "option types: there is no column %s%s", unknown[0], vm.Suggestion(unknown[0], t.header)),
		"the columns are %s", strings.Join(t.header, ", "))
}

// read gives the next record, nil at the end. It belongs to the reader.
func (t *csvTable) read() ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return nil, nil
	}
	record, err := t.in.Read()
	if err == nil {
		t.line, _ = t.in.FieldPos(0)
		for i, field := range record {
			field = swapped(field, t.quote, '"')
			if t.trim {
				field = strings.TrimSpace(field)
			}
			record[i] = field
		}
		if t.width == 0 {
			t.width = len(record)
		}
		if len(record) != t.width {
			err = fault.Hinted(fault.Of(&fault.ValueError{}, "line %d has %d fields, not %d as those before it", t.line, len(record), t.width),
				"is a field with a separator not quoted, or the separator another one?")
		}
	}
	if err == nil {
		return record, nil
	}
	t.over = true
	if t.file != nil {
		_ = t.file.Close()
	}
	if err == io.EOF {
		return nil, nil
	}
	return nil, t.explain(err)
}

func (t *csvTable) explain(err error) error {
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		why := bad.Err.Error()
		switch {
		case errors.Is(bad.Err, csv.ErrQuote) && bad.StartLine != bad.Line:
			why = fmt.Sprintf("the quoted field that begins in line %d does not end well", bad.StartLine)
		case errors.Is(bad.Err, csv.ErrQuote):
			why = "a quoted field does not end where it should"
		case errors.Is(bad.Err, csv.ErrBareQuote):
			why = "a quote stands inside a field that is not quoted"
		}
		return fault.Hinted(fault.Of(&fault.ValueError{}, "line %d, column %d: %s", bad.Line, bad.Column, why),
			`inside a quoted field a quote is written twice; quote = "" when quotes mean nothing`)
	}
	if fault.Find(err) == nil {
		err = fault.Of(&fault.FileError{}, "cannot be read on: %w", err)
	}
	return err
}

// next is the iterator.
func (t *csvTable) next(L *lua.LState) int {
	var record []string
	line := 0
	err := vm.Blocking(L, func(context.Context) error {
		r, err := t.read()
		if r != nil { // the reader's own may be overwritten by another task
			record, line = append([]string(nil), r...), t.line
		}
		return err
	})
	if err == nil && record == nil {
		L.Push(lua.LNil)
		return 1
	}
	var row *lua.LTable
	if err == nil {
		row, err = t.row(L, record)
	}
	if err != nil {
		if f := fault.Find(err); f != nil && t.name != "" {
			f.Facts().Message = t.name + ", " + f.Facts().Message
		}
		vm.Raise(L, fault.In("csv.read", err))
	}
	L.Push(row)
	L.Push(lua.LNumber(line))
	return 2
}

func (t *csvTable) row(L *lua.LState, record []string) (*lua.LTable, error) {
	if t.header == nil {
		row := L.CreateTable(len(record), 0)
		for i, field := range record {
			v, err := t.value(strconv.Itoa(i+1), t.types[strconv.Itoa(i+1)], field)
			if err != nil {
				return nil, err
			}
			row.RawSetInt(i+1, v)
		}
		return row, nil
	}
	row := L.CreateTable(0, len(record))
	for i, field := range record {
		v, err := t.value(t.header[i], t.byPlace[i], field)
		if err != nil {
			return nil, err
		}
		row.RawSetString(t.header[i], v)
	}
	return row, nil
}

func (t *csvTable) value(column, typ, field string) (lua.LValue, error) {
	text := strings.TrimSpace(field)
	switch {
	case typ == "" || typ == "string":
		return lua.LString(field), nil
	case text == "":
		return lua.LNil, nil
	case typ == "number":
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
			return lua.LNumber(n), nil
		}
	case typ == "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return vm.ToLua(nil, json.Number(strconv.FormatInt(n, 10))), nil
		}
	case typ == "boolean":
		switch strings.ToLower(text) {
		case "true", "yes", "1":
			return lua.LTrue, nil
		case "false", "no", "0":
			return lua.LFalse, nil
		}
	}
	return nil, fault.Of(&fault.ValueError{}, "line %d, column %s: %q is no %s", t.line, column, field, typ)
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

type openFiles struct{}

// closeAtEnd closes what a script did not read to its end.
func closeAtEnd(in *vm.Interp, f io.Closer) {
	open := vm.State(in, openFiles{}, func() *[]io.Closer {
		list := &[]io.Closer{}
		in.OnClose(func() {
			for _, f := range *list {
				_ = f.Close()
			}
		})
		return list
	})
	*open = append(*open, f)
}
