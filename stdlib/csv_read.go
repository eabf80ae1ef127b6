package stdlib

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/internal/csvtext"
)

// csvTable reads rows.
type csvTable struct {
	in     *csvtext.Reader
	header []string          // nil for lists
	types  map[string]string // by column, or its index
}

// newTable reads the options and the header.
func newTable(c *module.Call, r io.Reader) *csvTable {
	in, err := csvtext.NewReader(r, dialect(c))
	c.Must(err)
	in.Fits = c.In.Fits
	t := &csvTable{in: in, header: columnList(c), types: map[string]string{}}
	if types := c.Table("types"); types != nil {
		types.ForEach(func(k, v lua.LValue) {
			name := v.String()
			if t.types[k.String()] = name; !slices.Contains(csvtext.Types, name) {
				c.Raise(fault.Of(&fault.ParameterError{}, "option types: column %s must be one of %s, got %q%s", k,
					strings.Join(csvtext.Types, ", "), name,
					suggest.Suffix(name, csvtext.Types)))
			}
		})
	}
	if c.Bool("header") && t.header == nil {
		c.Must(c.Blocking(func(context.Context) (err error) { t.header, err = in.Header(); return err }))
	}
	if len(t.header) == 0 { // lists, or an empty file
		return t
	}
	in.SetWidth(len(t.header))
	for _, name := range slices.Sorted(maps.Keys(t.types)) {
		if !slices.Contains(t.header, name) {
			c.Raise(fault.Hinted(fault.Of(&fault.ParameterError{}, "option types: there is no column %s%s", name,
				suggest.Suffix(name, t.header)),
				"the columns are %s", strings.Join(t.header, ", ")))
		}
	}
	return t
}

// row returns a record as a Lua table.
func (t *csvTable) row(L *lua.LState, record []string, line int) (*lua.LTable, error) {
	row := L.CreateTable(len(record)-len(t.header), len(t.header))
	for i, field := range record {
		column := strconv.Itoa(i + 1)
		if t.header != nil {
			column = t.header[i]
		}
		typ := t.types[column]
		value, ok := t.in.Value(typ, field)
		if !ok {
			return nil, fault.Of(&fault.ValueError{}, "line %d, column %s: %q is not %s", line, column, field,
				schema.Article(typ))
		}
		if t.header == nil {
			row.RawSetInt(i+1, vm.ToLua(L, value))
		} else {
			row.RawSetString(column, vm.ToLua(L, value))
		}
	}
	return row, nil
}

func csvRead(c *module.Call) (any, error) {
	f := atPath(c, c.In.OpenToRead)
	c.In.OnClose(func() { _ = f.Close() }) // when the loop is left early
	var t *csvTable
	defer func() {
		if t == nil { // an option or the header is wrong
			_ = f.Close() // it was only read
		}
	}()
	t = newTable(c, f)
	name := c.String("path")
	var reading sync.Mutex // several tasks may share the iterator
	return c.Iterator(func(c *module.Call) (module.Values, error) {
		var record []string
		var line int
		err := c.Blocking(func(context.Context) error {
			reading.Lock()
			defer reading.Unlock()
			got, err := t.in.Read()
			if got == nil {
				_ = f.Close() // it was only read
			}
			record, line = slices.Clone(got), t.in.Line()
			return err
		})
		if err == nil && record == nil {
			return nil, nil
		}
		var row *lua.LTable
		if err == nil {
			row, err = t.row(c.L, record, line)
		}
		if f := fault.Find(err); f != nil && f.Name() != "LimitError" {
			f.Facts().Message = name + ", " + f.Facts().Message
		}
		return module.Values{row, line}, err
	}), nil
}

func csvParse(c *module.Call) (any, error) {
	t := newTable(c, strings.NewReader(c.String("text")))
	rows := c.L.NewTable()
	vm.MarkList(rows)
	for n := 1; ; n++ {
		record, err := t.in.Read()
		if err != nil || record == nil {
			return rows, err
		}
		vm.Work(c.L, 1+len(record))
		row, err := t.row(c.L, record, t.in.Line())
		c.Must(err)
		rows.RawSetInt(n, row)
	}
}
