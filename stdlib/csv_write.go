package stdlib

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// rowWriter writes rows in a dialect.
type rowWriter struct {
	out     *csv.Writer
	buffer  *bufio.Writer
	quote   byte
	columns []string // nil until known; empty for lists
	asked   bool     // header was given
	rows    int
}

func newRowWriter(c *vm.Call, w io.Writer) (*rowWriter, error) {
	separator, quote, err := dialect(c)
	if err != nil {
		return nil, err
	}
	if quote == 0 {
		return nil, fault.Of(&fault.ParameterError{}, "option quote must be one character for writing")
	}
	buffer := bufio.NewWriterSize(w, 64<<10)
	r := &rowWriter{out: csv.NewWriter(&swapWriter{buffer, quote}), buffer: buffer, quote: quote}
	r.out.Comma, r.out.UseCRLF = rune(separator), c.Bool("crlf")
	if c.Bool("bom") {
		_, _ = buffer.WriteString("\xef\xbb\xbf")
	}
	switch h := c.Value("header").(type) {
	case *lua.LTable:
		if r.columns, err = columnList(h); err != nil {
			return nil, err
		}
		r.asked = true
		return r, r.put(slices.Clone(r.columns))
	case lua.LBool:
		if bool(h) {
			return nil, fault.Of(&fault.ParameterError{}, `option header must list the columns to write, such as { "id", "name" }`)
		}
		r.columns, r.asked = []string{}, true
	}
	return r, nil
}

// put writes one record; the record is the writer's afterwards.
func (r *rowWriter) put(record []string) error {
	if len(record) == 1 && record[0] == "" { // an empty line would be no row
		r.out.Flush()
		end := "\n"
		if r.out.UseCRLF {
			end = "\r\n"
		}
		_, err := r.buffer.WriteString(strings.Repeat(string(rune(r.quote)), 2) + end)
		return err
	}
	for i := range record {
		record[i] = swapped(record[i], r.quote, '"')
	}
	return r.out.Write(record)
}

func (r *rowWriter) finish() error {
	r.out.Flush()
	if err := r.out.Error(); err != nil {
		return err
	}
	return r.buffer.Flush()
}

func (r *rowWriter) write(L *lua.LState, row lua.LValue) error {
	r.rows++
	record, err := r.record(L, row)
	if err != nil {
		return err
	}
	return r.put(record)
}

// record lays out a row, after the header when the first row decides on it.
func (r *rowWriter) record(L *lua.LState, row lua.LValue) ([]string, error) {
	t, ok := row.(*lua.LTable)
	if !ok {
		return nil, fault.Of(&fault.ParameterError{}, "row %d must be a table, got a %s", r.rows, row.Type())
	}
	var names []string
	t.ForEach(func(k, _ lua.LValue) {
		if name, ok := k.(lua.LString); ok {
			names = append(names, string(name))
		}
	})
	sort.Strings(names)
	if r.columns == nil {
		r.columns = slices.Clone(names)
		if len(names) == 0 {
			r.columns = []string{}
		} else if err := r.put(slices.Clone(names)); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 && (t.Len() > 0 || len(r.columns) == 0) {
		return r.list(L, t)
	}
	for _, name := range names {
		if !slices.Contains(r.columns, name) {
			return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "row %d has %s, which is no column%s", r.rows, name, vm.Suggestion(name, r.columns)),
				"the columns are %s; name them all with header", strings.Join(r.columns, ", "))
		}
	}
	record := make([]string, len(r.columns))
	for i, name := range r.columns {
		var err error
		if record[i], err = r.text(name, t.RawGetString(name)); err != nil {
			return nil, err
		}
	}
	return record, nil
}

func (r *rowWriter) list(L *lua.LState, t *lua.LTable) ([]string, error) {
	n := t.Len()
	if len(r.columns) > 0 {
		if n > len(r.columns) {
			return nil, fault.Of(&fault.ParameterError{}, "row %d has %d fields, there are %d columns", r.rows, n, len(r.columns))
		}
		n = len(r.columns)
	}
	record := make([]string, n)
	for i := range record {
		var err error
		if record[i], err = r.text(strconv.Itoa(i+1), t.RawGetInt(i+1)); err != nil {
			return nil, err
		}
	}
	return record, nil
}

// text is a value as a field: nil and null are empty.
func (r *rowWriter) text(column string, v lua.LValue) (string, error) {
	switch v := v.(type) {
	case *lua.LNilType:
		return "", nil
	case lua.LString:
		return string(v), nil
	case lua.LNumber:
		return strconv.FormatFloat(float64(v), 'f', -1, 64), nil
	case lua.LBool:
		return v.String(), nil
	case *lua.LUserData:
		if plain, err := vm.FromLua(v); err == nil {
			if text, ok := plain.(string); ok {
				return text, nil
			}
			if plain == vm.NullValue {
				return "", nil
			}
		}
	}
	return "", fault.Hinted(fault.Of(&fault.ParameterError{}, "row %d, column %s: a %s is no field", r.rows, column, v.Type()),
		"make a text of it, such as with json.encode")
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

// csvWriter is a file that is being written.
type csvWriter struct {
	mu     sync.Mutex
	rows   *rowWriter
	file   *aside
	name   string
	closed bool
	warn   func(string)
}

var csvWriterType = &vm.Type{
	Name: "csv_writer", Doc: "A file that is written row by row.",
	Methods: []vm.Func{
		{
			Name: "write", Doc: "Writes a row: a table by column name, or a list. A name that is no column is a ParameterError.",
			Params: []vm.Param{{Name: "row", Type: "table", Doc: "the fields: texts, numbers, booleans; absent ones are empty"}},
			Example: `local out = require("csv").writer("w.csv", { header = false })
out:write({ "a", 1, true })
out:close()`,
			Call: func(c *vm.Call) (any, error) {
				w := c.Self.(*csvWriter)
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.closed {
					return nil, fault.Of(&fault.RuntimeError{}, "%s is closed already", w.name)
				}
				return nil, w.trouble(w.rows.write(c.L, c.Value("row")))
			},
		},
		{
			Name: "close", Doc: "Puts the file in its place. Once more does nothing.",
			Example: `local out = require("csv").writer("c.csv", { header = { "id" } })
out:close()
assert(require("fs").read("c.csv") == "id\n")`,
			Call: func(c *vm.Call) (any, error) {
				w := c.Self.(*csvWriter)
				return nil, c.Blocking(func(context.Context) error { return w.trouble(w.finish()) })
			},
		},
		{
			Name: "discard", Doc: "Removes what was written; a file that was there stays as it is.",
			Example: `local out = require("csv").writer("d.csv")
out:discard()
assert(not require("fs").exists("d.csv"))`,
			Call: func(c *vm.Call) (any, error) { c.Self.(*csvWriter).discard(); return nil, nil },
		},
	},
	Text: func(self any) string { return "csv_writer (" + self.(*csvWriter).name + ")" },
}

func newCSVWriter(c *vm.Call) (*csvWriter, error) {
	path := c.In.Path(c.String("path"))
	f, err := writeAside(c.In, path)
	if err != nil {
		return nil, fileError(c, "path", err)
	}
	w := &csvWriter{file: f, name: c.String("path"), warn: func(text string) { c.In.Options().Logger.Warn(text) }}
	if w.rows, err = newRowWriter(c, f); err != nil {
		f.discard()
		return nil, err
	}
	closeAtEnd(c.In, w)
	return w, nil
}

func (w *csvWriter) finish() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	defer w.file.discard()
	rows := w.rows
	w.rows = nil // its buffers
	if err := rows.finish(); err != nil {
		return err
	}
	return w.file.commit()
}

func (w *csvWriter) discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed, w.rows = true, nil
	w.file.discard()
}

// Close is the end of the run.
func (w *csvWriter) Close() error {
	if !w.closed {
		w.warn("csv: " + w.name + " was never closed, so it was not written")
		w.discard()
	}
	return nil
}

// trouble names the file in an error of the disk.
func (w *csvWriter) trouble(err error) error {
	if err == nil || fault.Find(err) != nil {
		return err
	}
	return fault.Of(&fault.FileError{}, "%s: %w", w.name, err)
}

func csvWrite(c *vm.Call) (any, error) {
	next, err := eachRow(c)
	if err != nil {
		return nil, err
	}
	w, err := newCSVWriter(c)
	if err != nil {
		return nil, err
	}
	defer w.discard()
	for row := next(); row != lua.LNil; row = next() {
		if err := w.rows.write(c.L, row); err != nil {
			return nil, w.trouble(err)
		}
	}
	return nil, c.Blocking(func(context.Context) error { return w.trouble(w.finish()) })
}

// eachRow goes through the argument rows, a list or an iterator.
func eachRow(c *vm.Call) (func() lua.LValue, error) {
	switch rows := c.Value("rows").(type) {
	case *lua.LTable:
		i := 0
		return func() lua.LValue { i++; return rows.RawGetInt(i) }, nil
	case *lua.LFunction:
		return func() lua.LValue {
			c.L.Push(rows)
			c.L.Call(0, 1)
			defer c.L.Pop(1)
			return c.L.Get(-1)
		}, nil
	}
	return nil, fault.Of(&fault.ParameterError{}, "argument rows must be a list or an iterator, got a %s", c.Value("rows").Type())
}
