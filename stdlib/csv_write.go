package stdlib

import (
	"context"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/csvtext"
)

// rowWriter writes rows in a dialect.
type rowWriter struct {
	out     *csvtext.Writer
	columns []string // nil until known; empty for lists
	rows    int
}

func newRowWriter(c *module.Call, w io.Writer) (*rowWriter, error) {
	d, err := dialect(c)
	if err != nil {
		return nil, err
	}
	r := &rowWriter{}
	if r.out, err = csvtext.NewWriter(w, d); err != nil {
		return nil, err
	}
	switch h := c.Value("header").(type) {
	case *lua.LTable:
		if r.columns, err = columnList(h); err != nil {
			return nil, err
		}
		return r, r.out.Write(slices.Clone(r.columns))
	case lua.LBool:
		if bool(h) {
			return nil, fault.Of(&fault.ParameterError{}, `option header must list the columns to write, such as { "id", "name" }`)
		}
		r.columns = []string{}
	}
	return r, nil
}

func (r *rowWriter) write(L *lua.LState, row lua.LValue) error {
	r.rows++
	record, err := r.record(L, row)
	if err != nil {
		return err
	}
	return r.out.Write(record)
}

// record lays out a row, after the header when the first row decides on it.
func (r *rowWriter) record(L *lua.LState, row lua.LValue) ([]string, error) {
	if object, ok := row.(*lua.LUserData); ok {
		return r.object(L, object)
	}
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
		} else if err := r.out.Write(slices.Clone(names)); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 && (t.Len() > 0 || len(r.columns) == 0) {
		return r.list(L, t)
	}
	for _, name := range names {
		if !slices.Contains(r.columns, name) {
			return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "row %d has %s, which is no column%s", r.rows, name, suggest.Suffix(name, r.columns)),
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

// object lays out a resource: the columns, or else all of its fields.
func (r *rowWriter) object(L *lua.LState, object *lua.LUserData) ([]string, error) {
	if r.columns == nil {
		if r.columns = fieldsOf(L, object); len(r.columns) > 0 {
			if err := r.out.Write(slices.Clone(r.columns)); err != nil {
				return nil, err
			}
		}
	}
	if len(r.columns) == 0 {
		return nil, fault.Of(&fault.ParameterError{}, `row %d: name the columns to write with header, such as { "id", "name" }`, r.rows)
	}
	record := make([]string, len(r.columns))
	for i, name := range r.columns {
		var err error
		if record[i], err = r.text(name, L.GetField(object, name)); err != nil {
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
			if plain == (schema.Null{}) {
				return "", nil
			}
		}
	}
	return "", fault.Hinted(fault.Of(&fault.ParameterError{}, "row %d, column %s: a %s is no field", r.rows, column, v.Type()),
		"make a text of it, such as with json.encode")
}

// csvWriter is a file that is being written.
type csvWriter struct {
	mu     sync.Mutex
	rows   *rowWriter
	file   *atomicfile.File
	name   string
	closed bool
	warn   func(string)
}

var csvWriterType = &module.Type{
	Name: "csv_writer", Doc: "A file that is written row by row.",
	Methods: []module.Func{
		{
			Name: "write", Doc: "Writes a row: a table by column name, or a list. A name that is not a column is a ParameterError.",
			Params: []module.Param{{Name: "row", Type: "table", Doc: "the fields: texts, numbers, booleans; absent ones are empty"}},
			Call: func(c *module.Call) (any, error) {
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
			Name: "close", Doc: "Moves the file to its name. Further calls do nothing.",
			Call: func(c *module.Call) (any, error) {
				w := c.Self.(*csvWriter)
				return nil, c.Blocking(func(context.Context) error { return w.trouble(w.finish()) })
			},
		},
		{
			Name: "discard", Doc: "Discards what was written; an existing file stays unchanged.",
			Call: func(c *module.Call) (any, error) { c.Self.(*csvWriter).discard(); return nil, nil },
		},
	},
	Text: func(self any) string { return "csv_writer (" + self.(*csvWriter).name + ")" },
}

func newCSVWriter(c *module.Call) (*csvWriter, error) {
	path := c.In.Path(c.String("path"))
	f, err := c.In.Create(path)
	if err != nil {
		return nil, namedFile(c.String("path"), err)
	}
	w := &csvWriter{file: f, name: c.String("path"), warn: func(text string) { c.In.Options().Logger.Warn(text) }}
	if w.rows, err = newRowWriter(c, f); err != nil {
		f.Discard()
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
	defer w.file.Discard()
	rows := w.rows
	w.rows = nil // its buffers
	if err := rows.out.Flush(); err != nil {
		return err
	}
	return w.file.Commit()
}

func (w *csvWriter) discard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed, w.rows = true, nil
	w.file.Discard()
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

func csvWrite(c *module.Call) (any, error) {
	next, err := itemsOf(c, "rows")
	if err != nil {
		return nil, err
	}
	w, err := newCSVWriter(c)
	if err != nil {
		return nil, err
	}
	defer w.discard()
	for row := next(); row != nil; row = next() {
		if err := w.rows.write(c.L, row[0]); err != nil {
			return nil, w.trouble(err)
		}
	}
	return nil, c.Blocking(func(context.Context) error { return w.trouble(w.finish()) })
}
