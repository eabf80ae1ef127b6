package stdlib

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/internal/csvtext"
)

// rowWriter writes rows in a dialect.
type rowWriter struct {
	out     *csvtext.Writer
	name    string   // of the file, for messages
	columns []string // nil until known; empty for lists
	rows    int
	recoded bool // from UTF-8 to another encoding
}

func newRowWriter(c *module.Call, w io.Writer) *rowWriter {
	out, err := csvtext.NewWriter(w, dialect(c))
	c.Must(err)
	r := &rowWriter{out: out, recoded: dialect(c).Encoding != csvtext.UTF8, name: c.String("path"), columns: columnList(c)}
	switch {
	case r.columns != nil:
		c.Must(out.Write(r.columns))
	case c.Bool("header"):
		c.Raise(fault.Of(&fault.ParameterError{}, `option header must list the columns to write, such as { "id", "name" }`))
	case c.Has("header"):
		r.columns = []string{}
	}
	return r
}

// write writes a row, preceded by the header when the first row determines it.
func (r *rowWriter) write(c *module.Call, row lua.LValue) {
	r.rows++
	t, _ := row.(*lua.LTable)
	if _, object := row.(*lua.LUserData); t == nil && !object {
		c.Raise(fault.Of(&fault.ParameterError{}, "row %d must be a table, got a %s", r.rows, row.Type()))
	}
	var names []string
	if t != nil || r.columns == nil {
		names = fieldsOf(c.L, row)
	}
	if r.columns == nil {
		if r.columns = names; len(names) == 0 {
			r.columns = []string{}
		} else {
			c.Must(r.out.Write(names))
		}
	}
	switch {
	case t != nil && len(names) == 0 && (t.Len() > 0 || len(r.columns) == 0):
		r.list(c, t)
		return
	case len(r.columns) == 0 && t == nil:
		c.Raise(fault.Of(&fault.ParameterError{}, `row %d: name the columns to write with header, such as { "id", "name" }`,
			r.rows))
	}
	vm.Work(c.L, len(names)*len(r.columns)/16)
	for _, name := range names {
		if !slices.Contains(r.columns, name) {
			c.Raise(fault.Hinted(fault.Of(&fault.ParameterError{}, "row %d has %s, which is not a column%s", r.rows, name,
				suggest.Suffix(name, r.columns)),
				"the columns are %s; name them all with header", strings.Join(r.columns, ", ")))
		}
	}
	r.record(c, len(r.columns), func(i int) (string, lua.LValue) {
		if t != nil {
			return r.columns[i], t.RawGetString(r.columns[i])
		}
		return r.columns[i], c.L.GetField(row, r.columns[i])
	})
}

func (r *rowWriter) list(c *module.Call, t *lua.LTable) {
	n := table.Length(t)
	if most := len(r.columns); most > 0 {
		if n > most {
			c.Raise(fault.Of(&fault.ParameterError{}, "row %d has %d fields, there are %d columns", r.rows, n, most))
		}
		n = most
	}
	r.record(c, n, func(i int) (string, lua.LValue) { return strconv.Itoa(i + 1), table.Element(t, i+1) })
}

// record writes n fields, each with the name of its column.
func (r *rowWriter) record(c *module.Call, n int, field func(i int) (column string, v lua.LValue)) {
	record := make([]string, n)
	for i := range record {
		column, v := field(i)
		text, ok := fieldText(v)
		if !ok {
			c.Raise(fault.Hinted(fault.Of(&fault.ParameterError{}, "row %d, column %s: a %s cannot be a field", r.rows, column,
				v.Type()),
				"make a string of it, such as with json.encode"))
		}
		if r.recoded && !utf8.ValidString(text) {
			c.Raise(fault.Of(&fault.ParameterError{}, "row %d, column %s: %w", r.rows, column, schema.CheckText(text)))
		}
		vm.Grow(c.L, len(text))
		record[i] = text
	}
	vm.Work(c.L, n)
	c.Must(namedFile(r.name, r.out.Write(record)))
}

// fieldText formats a value as a field: nil and null are empty.
func fieldText(v lua.LValue) (text string, ok bool) {
	switch v := v.(type) {
	case *lua.LNilType:
		return "", true
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return strconv.FormatFloat(float64(v), 'f', -1, 64), true
	case lua.LBool:
		return v.String(), true
	case *lua.LUserData:
		plain, err := vm.FromLua(nil, v)
		if text, ok := plain.(string); ok && err == nil {
			return text, true
		}
		return "", plain == schema.Null{}
	}
	return "", false
}

// csvWriter is an open file being written.
type csvWriter struct {
	*rowWriter
	file   *atomicfile.File
	closed bool
}

var csvWriterType = &module.Type{
	Name: "csv_writer", Doc: "A file that is written row by row.",
	Methods: []module.Func{
		{
			Name: "write",
			Doc:  "Writes a row: a table by column name, or a list. A name that is not a column is a ParameterError.",
			Params: []module.Param{{Name: "row", Type: "table",
				Doc: "the fields: strings, numbers, booleans; absent ones are empty"}},
			Call: func(c *module.Call) (any, error) {
				w := c.Self.(*csvWriter)
				if w.closed {
					return nil, fault.Of(&fault.RuntimeError{}, "%s is closed already", w.name)
				}
				w.write(c, c.Value("row"))
				return nil, nil
			},
		},
		{
			Name: "close", Doc: "Moves the file to its name. Further calls do nothing.",
			Call: func(c *module.Call) (any, error) { return nil, c.Self.(*csvWriter).close(c) },
		},
		{
			Name: "discard", Doc: "Discards what was written; an existing file stays unchanged.",
			Call: func(c *module.Call) (any, error) { c.Self.(*csvWriter).discard(); return nil, nil },
		},
	},
	Text: func(self any) string { return "csv_writer (" + self.(*csvWriter).name + ")" },
}

func newCSVWriter(c *module.Call) *csvWriter {
	w := &csvWriter{file: changeAt(c, c.In.Create)}
	defer func() {
		if w.rowWriter == nil { // an option is wrong
			w.discard()
		}
	}()
	w.rowWriter = newRowWriter(c, w.file)
	in := c.In
	in.OnClose(func() {
		if !w.closed {
			in.Options().Logger.Warn("csv: " + w.name + " was never closed, so it was not written")
			w.discard()
		}
	})
	return w
}

func (w *csvWriter) close(c *module.Call) error {
	if w.closed {
		return nil
	}
	out := w.out
	w.closed, w.out = true, nil // its buffers
	return namedFile(w.name, c.Blocking(func(context.Context) error {
		defer w.file.Discard()
		if err := out.Flush(); err != nil {
			return err
		}
		return w.file.Commit()
	}))
}

func (w *csvWriter) discard() {
	if !w.closed {
		w.closed = true
		w.file.Discard()
		if w.rowWriter != nil {
			w.out = nil // releases its buffers
		}
	}
}

func csvWrite(c *module.Call) (any, error) {
	next := itemsOf(c, "rows")
	w := newCSVWriter(c)
	defer w.discard()
	for row := next(); row != nil; row = next() {
		w.write(c, row[0])
	}
	return nil, w.close(c)
}
