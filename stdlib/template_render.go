package stdlib

import (
	"encoding/json"
	"html"
	"net/url"
	"sort"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/vm"
)

// textTemplate is a template that was read.
type textTemplate struct {
	pieces   []piece
	partials map[string][]piece
	escape   string
	strict   bool
}

const longestTemplate = 64 << 20

// filling is one text on its way.
type filling struct {
	*textTemplate
	c     *vm.Call
	b     strings.Builder
	stack []lua.LValue // the values of the sections one is in
	depth int
}

func (t *textTemplate) render(c *vm.Call, values lua.LValue) (any, error) {
	f := &filling{textTemplate: t, c: c, stack: []lua.LValue{values}}
	if err := f.write(t.pieces); err != nil {
		return nil, err
	}
	return f.b.String(), nil
}

func (f *filling) write(pieces []piece) error {
	if f.depth++; f.depth > deepestTemplate {
		return fault.Of(&fault.LimitError{}, "more than %d templates inside one another", deepestTemplate)
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
		switch p.kind {
		case 0:
			f.b.WriteString(p.text)
		case '#', '^':
			err = f.section(p)
		case '>':
			inner, known := f.partials[p.text]
			if !known {
				names := make([]string, 0, len(f.partials))
				for name := range f.partials {
					names = append(names, name)
				}
				return fault.Of(&fault.KeyError{}, "line %d: there is no partial %s%s", p.line, p.text, vm.Suggestion(p.text, names))
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

// lookup finds a name, from the innermost section outwards.
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

// field reads a field of a table, list or resource, nil of anything else.
func (f *filling) field(v lua.LValue, name string) lua.LValue {
	switch v := v.(type) {
	case *lua.LTable:
		if found := f.c.L.GetField(v, name); found != lua.LNil {
			return found
		}
		if n, rest, ok := digits(name, 1, 9); ok && rest == "" {
			return v.RawGetInt(n)
		}
	case *lua.LUserData:
		if v != vm.Null {
			return f.c.L.GetField(v, name)
		}
	}
	return lua.LNil
}

func (f *filling) value(p piece) error {
	v := f.lookup(p.text)
	if v == vm.Null {
		return nil
	}
	if v == lua.LNil {
		if !f.strict {
			return nil
		}
		return fault.Hinted(fault.Of(&fault.KeyError{}, "line %d: {{%s}} has no value%s", p.line, p.text, vm.Suggestion(p.text, f.names())),
			`give it one, or pass missing = "empty"`)
	}
	text, err := f.text(p, v)
	if err != nil {
		return err
	}
	if p.kind != '&' {
		text = escaped(text, f.escape)
	}
	f.b.WriteString(text)
	return nil
}

// text is a value as it is written, by its format if there is one.
func (f *filling) text(p piece, v lua.LValue) (string, error) {
	L := f.c.L
	if p.format == "" {
		if t, ok := v.(*lua.LTable); ok && L.GetMetaField(t, "__tostring") == lua.LNil {
			return "", fault.Hinted(fault.Of(&fault.TypeError{}, "line %d: {{%s}} is a table, which has no text", p.line, p.text), "name one of its fields, or repeat for each with {{#%s}}", p.text)
		}
		return L.ToStringMeta(v).String(), nil
	}
	if verb := templateFormat().FindStringSubmatch(p.format)[3]; verb != "s" && verb != "q" {
		n, ok := v.(lua.LNumber)
		if text, isText := v.(lua.LString); isText {
			parsed, err := strconv.ParseFloat(string(text), 64)
			n, ok = lua.LNumber(parsed), err == nil
		}
		if !ok {
			return "", fault.Of(&fault.TypeError{}, "line %d: {{%s}} is a %s, which %s cannot write", p.line, p.text, v.Type(), p.format)
		}
		v = n
	} else {
		v = lua.LString(L.ToStringMeta(v).String())
	}
	values, caught := vm.Try(L, L.GetField(L.GetGlobal("string"), "format"), lua.LString(p.format), v)
	if caught != nil {
		return "", fault.Of(&fault.ValueError{}, "line %d: {{%s}}: %s", p.line, p.text, caught.Value())
	}
	return values[0].String(), nil
}

// names are those that could have been meant.
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

func (f *filling) section(p piece) error {
	v := f.lookup(p.text)
	list, isTable := v.(*lua.LTable)
	function := v.Type() == lua.LTFunction
	first := lua.LValue(lua.LNil)
	if function {
		if first = f.pull(v); first == lua.LNil {
			v = lua.LFalse // it has ended
		}
	}
	empty := !lua.LVAsBool(v) || v == vm.Null || isTable && list.Len() == 0 && isEmpty(list)
	switch {
	case p.kind == '^':
		if empty {
			return f.write(p.inner)
		}
		return nil
	case empty:
		return nil
	case function:
		for item := first; item != lua.LNil; item = f.pull(v) {
			if err := f.inside(item, p.inner); err != nil {
				return err
			}
		}
		return nil
	case isTable && list.Len() > 0:
		for i := 1; i <= list.Len(); i++ {
			if err := f.inside(list.RawGetInt(i), p.inner); err != nil {
				return err
			}
		}
		return nil
	}
	return f.inside(v, p.inner)
}

func isEmpty(t *lua.LTable) bool {
	k, _ := t.Next(lua.LNil)
	return k == lua.LNil
}

// pull takes the next item of an iterator.
func (f *filling) pull(iterator lua.LValue) lua.LValue {
	L := f.c.L
	L.Push(iterator)
	L.Call(0, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

func (f *filling) inside(v lua.LValue, inner []piece) error {
	f.stack = append(f.stack, v)
	err := f.write(inner)
	f.stack = f.stack[:len(f.stack)-1]
	return err
}

// escaped is a text as it may stand in another: between the tags and in the
// quotes of HTML, in the quotes of JSON, in an address.
func escaped(text, escape string) string {
	switch escape {
	case "html":
		return html.EscapeString(text)
	case "json":
		quoted, err := json.Marshal(text)
		if err != nil {
			return text // texts always can be written
		}
		return string(quoted[1 : len(quoted)-1])
	case "url":
		return url.QueryEscape(text)
	}
	return text
}
