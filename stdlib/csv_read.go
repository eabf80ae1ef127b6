package stdlib

import (
	"context"
	"io"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/csvtext"
)

// csvTable reads rows.
type csvTable struct {
	mu          sync.Mutex // several tasks may read from one
	in          *csvtext.Reader
	name        string // of the file, for messages
	file        *os.File
	header      []string // nil for lists
	types       map[string]string
	columnTypes []string
	decimal     byte
}

// newTable reads the options and the header.
func newTable(c *module.Call, r io.Reader) (*csvTable, error) {
	d, err := dialect(c)
	if err != nil {
		return nil, err
	}
	t := &csvTable{types: map[string]string{}}
	if t.in, err = csvtext.NewReader(r, d); err != nil {
		return nil, err
	}
	if t.decimal, err = one(c, "decimal"); err != nil {
		return nil, err
	}
	if err := t.readTypes(c.Table("types")); err != nil {
		return nil, err
	}
	switch h := c.Value("header").(type) {
	case *lua.LTable:
		t.header, err = columnList(h)
	case lua.LBool:
		if bool(h) {
			err = c.Blocking(func(context.Context) (err error) { t.header, err = t.in.Header(); return err })
		}
	}
	if err != nil {
		return nil, err
	}
	return t, t.resolveTypes()
}

func (t *csvTable) readTypes(types *lua.LTable) error {
	if types == nil {
		return nil
	}
	var err error
	types.ForEach(func(k, v lua.LValue) {
		name := v.String()
		if slices.Contains(csvtext.Types, name) {
			t.types[k.String()] = name
			return
		}
		err = fault.Of(&fault.ParameterError{}, "option types: column %s must be one of %s, got %q%s", k, strings.Join(csvtext.Types, ", "), name,
			suggest.Suffix(name, csvtext.Types))
	})
	return err
}

// resolveTypes assigns the types to columns.
func (t *csvTable) resolveTypes() error {
	if t.header == nil {
		return nil
	}
	t.in.SetWidth(len(t.header))
	t.columnTypes = make([]string, len(t.header))
	left := make(map[string]bool, len(t.types))
	for name := range t.types {
		left[name] = true
	}
	for i, name := range t.header {
		t.columnTypes[i] = t.types[name]
		delete(left, name)
	}
	if len(left) == 0 || t.in.Over() { // an empty file has no columns
		return nil
	}
	var unknown []string
	for name := range left {
		unknown = append(unknown, name)
	}
	sort.Strings(unknown)
	return fault.Hinted(fault.Of(&fault.ParameterError{}, "option types: there is no column %s%s", unknown[0], suggest.Suffix(unknown[0], t.header)),
		"the columns are %s", strings.Join(t.header, ", "))
}

// read gives the next record and its line, nil at the end.
func (t *csvTable) read() (record []string, line int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	record, err = t.in.Read()
	if t.file != nil && record == nil {
		_ = t.file.Close()
	}
	return slices.Clone(record), t.in.Line(), err
}

// next is the iterator.
func (t *csvTable) next(L *lua.LState) int {
	var record []string
	line := 0
	err := vm.Blocking(L, func(context.Context) (err error) { record, line, err = t.read(); return err })
	if err == nil && record == nil {
		L.Push(lua.LNil)
		return 1
	}
	var row *lua.LTable
	if err == nil {
		row, err = t.row(L, record, line)
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

func (t *csvTable) row(L *lua.LState, record []string, line int) (*lua.LTable, error) {
	if t.header == nil {
		row := L.CreateTable(len(record), 0)
		for i, field := range record {
			v, err := t.value(line, strconv.Itoa(i+1), t.types[strconv.Itoa(i+1)], field)
			if err != nil {
				return nil, err
			}
			row.RawSetInt(i+1, v)
		}
		return row, nil
	}
	row := L.CreateTable(0, len(record))
	for i, field := range record {
		v, err := t.value(line, t.header[i], t.columnTypes[i], field)
		if err != nil {
			return nil, err
		}
		row.RawSetString(t.header[i], v)
	}
	return row, nil
}

func (t *csvTable) value(line int, column, typ, field string) (lua.LValue, error) {
	v, ok := csvtext.Value(typ, field, t.decimal)
	if !ok {
		return nil, fault.Of(&fault.ValueError{}, "line %d, column %s: %q is no %s", line, column, field, typ)
	}
	if text, plain := v.(string); plain {
		return lua.LString(text), nil
	}
	return vm.ToLua(nil, v), nil
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
