package stdlib

import (
	"sort"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/client/schema"
	"transect/client/suggest"
	"transect/runtime/engine/table"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/internal/mustache"
)

// filling is one rendering of a template.
type filling struct {
	*textTemplate
	c     *module.Call
	b     *vm.Text
	stack []lua.LValue // values of the enclosing sections
	depth int
}

func (t *textTemplate) render(c *module.Call) (any, error) {
	f := &filling{textTemplate: t, c: c, b: c.In.NewText("template"), stack: []lua.LValue{c.Value("values")}}
	err := f.write(t.pieces)
	return f.b.String(), err
}

func (f *filling) write(pieces []mustache.Piece) error {
	if f.depth++; f.depth > mustache.Deepest {
		return fault.Of(&fault.LimitError{}, "templates are nested more than %d deep", mustache.Deepest)
	}
	defer func() { f.depth-- }()
	for _, p := range pieces {
		if err := f.c.Context().Err(); err != nil {
			return err
		}
		if f.b.Len() > longestTemplate {
			return fault.Of(&fault.LimitError{}, "the text is longer than %d MiB", longestTemplate>>20)
		}
		var err error
		switch p.Kind {
		case mustache.Text:
			err = f.put(p.Text)
		case mustache.Section, mustache.Inverted:
			err = f.section(p)
		case mustache.Partial:
			inner, ok := f.partials[p.Text]
			if !ok {
				return fault.Of(&fault.KeyError{}, "line %d: there is no partial %s%s", p.Line, p.Text,
					suggest.Suffix(p.Text, schema.SortedKeys(f.partials)))
			}
			err = f.write(inner)
		default:
			err = f.value(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lookup returns the value of a name, from the innermost section outwards.
func (f *filling) lookup(name string) lua.LValue {
	if name == "." {
		return f.stack[len(f.stack)-1]
	}
	parts := strings.Split(name, ".")
	for i := len(f.stack) - 1; i >= 0; i-- {
		v := f.field(f.stack[i], parts[0])
		if v == lua.LNil {
			continue
		}
		for _, part := range parts[1:] {
			v = f.field(v, part)
		}
		return v
	}
	return lua.LNil
}

// field returns a field of a table, list or resource, nil for other values.
func (f *filling) field(v lua.LValue, name string) lua.LValue {
	switch v := v.(type) {
	case *lua.LTable:
		if found := f.c.L.GetField(v, name); found != lua.LNil {
			return found
		}
		if n, err := strconv.Atoi(name); err == nil {
			return table.Element(v, n)
		}
	case *lua.LUserData:
		if v != vm.Null {
			return f.c.L.GetField(v, name)
		}
	}
	return lua.LNil
}

func (f *filling) value(p mustache.Piece) error {
	v := f.lookup(p.Text)
	if v == vm.Null || v == lua.LNil && !f.strict {
		return nil
	}
	if v == lua.LNil {
		return fault.Hinted(fault.Of(&fault.KeyError{}, "line %d: {{%s}} has no value%s", p.Line, p.Text,
			suggest.Suffix(p.Text, f.names())),
			`give it one, or pass missing = "empty"`)
	}
	text, err := f.text(p, v)
	if err != nil {
		return err
	}
	if p.Kind != mustache.Raw {
		if f.escape == "json" {
			if err := schema.CheckText(text); err != nil {
				return fault.Of(&fault.ValueError{}, "line %d: {{%s}}: %w", p.Line, p.Text, err)
			}
		}
		text = mustache.Escape(text, f.escape)
	}
	return f.put(text)
}

// put appends a text, and charges work and memory.
func (f *filling) put(text string) error {
	vm.Work(f.c.L, 1)
	vm.Grow(f.c.L, len(text))
	_, err := f.b.WriteString(text)
	return err
}

// text formats a value, with its format if there is one.
func (f *filling) text(p mustache.Piece, v lua.LValue) (string, error) {
	L := f.c.L
	if p.Format == "" {
		if t, ok := v.(*lua.LTable); ok && L.GetMetaField(t, "__tostring") == lua.LNil {
			return "", fault.Hinted(fault.Of(&fault.TypeError{}, "line %d: {{%s}} is a table, which cannot be written as text",
				p.Line, p.Text), "name one of its fields, or repeat for each with {{#%s}}", p.Text)
		}
		return L.ToStringMeta(v).String(), nil
	}
	if p.Numeric() {
		n, ok := v.(lua.LNumber)
		if text, isText := v.(lua.LString); isText {
			parsed, err := strconv.ParseFloat(string(text), 64)
			n, ok = lua.LNumber(parsed), err == nil
		}
		if !ok {
			return "", fault.Of(&fault.TypeError{}, "line %d: {{%s}} is a %s, which %s cannot write", p.Line, p.Text, v.Type(),
				p.Format)
		}
		v = n
	} else {
		v = lua.LString(L.ToStringMeta(v).String())
	}
	values, caught := vm.Try(L, L.GetField(L.GetGlobal("string"), "format"), lua.LString(p.Format), v)
	if caught != nil {
		return "", fault.Of(&fault.ValueError{}, "line %d: {{%s}}: %s", p.Line, p.Text, caught.Value)
	}
	return values[0].String(), nil
}

// names lists the names in scope, for suggestions.
func (f *filling) names() []string {
	var names []string
	for _, v := range f.stack {
		if t, ok := v.(*lua.LTable); ok {
			t.ForEach(func(k, _ lua.LValue) {
				if k.Type() == lua.LTString {
					names = append(names, k.String())
				}
			})
		}
	}
	sort.Strings(names)
	return names
}

func (f *filling) section(p mustache.Piece) error {
	v := f.lookup(p.Text)
	list, isTable := v.(*lua.LTable)
	function, first := v.Type() == lua.LTFunction, lua.LNil
	if function {
		first = vm.Call(f.c.L, v)
	}
	empty := !lua.LVAsBool(v) || v == vm.Null || isTable && isEmpty(list) || function && first == lua.LNil
	switch {
	case empty != (p.Kind == mustache.Inverted):
		return nil
	case empty:
		return f.write(p.Inner)
	case function:
		for item := first; item != lua.LNil; item = vm.Call(f.c.L, v) {
			if err := f.inside(item, p.Inner); err != nil {
				return err
			}
		}
		return nil
	case isTable && list.Len() > 0:
		for i := 1; i <= table.Length(list); i++ {
			if err := f.inside(table.Element(list, i), p.Inner); err != nil {
				return err
			}
		}
		return nil
	}
	return f.inside(v, p.Inner)
}

func isEmpty(t *lua.LTable) bool {
	k, _ := t.Next(lua.LNil)
	return k == lua.LNil
}

func (f *filling) inside(v lua.LValue, inner []mustache.Piece) error {
	f.stack = append(f.stack, v)
	err := f.write(inner)
	f.stack = f.stack[:len(f.stack)-1]
	return err
}
