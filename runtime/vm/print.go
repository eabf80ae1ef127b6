package vm

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/table"
)

// Printer writes values as Lua would read them, within limits; 0 is none.
type Printer struct {
	L       *lua.LState // calls __tostring; nil calls no code of the script
	Depth   int         // levels of tables; deeper ones are { … }
	Items   int         // of each table
	Width   int         // characters of each text
	Size    int         // bytes after which tables end
	OneLine bool
	Secrets bool // leaves out values of keys that name secrets

	b      *Text
	within []*lua.LTable
}

// deepest is how far down tables are followed at most, so that nothing nested
// endlessly fills the memory.
const deepest = 200

// Text formats a value as Lua would read it.
func (p *Printer) Text(v lua.LValue) string {
	p.b = &Text{}
	if p.L != nil {
		p.b = Of(p.L).NewText("showing a value")
	}
	p.value(v, 0)
	return p.b.String()
}

func (p *Printer) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		p.write(p.quoted(string(v)))
	case *lua.LTable:
		p.table(v, depth)
	default:
		if p.L != nil {
			v = p.L.ToStringMeta(v)
		} else if ud, ok := v.(*lua.LUserData); ok {
			if text, ok := ud.Value.(fmt.Stringer); ok {
				p.write(text.String())
				return
			}
		}
		p.write(errorText(v))
	}
}

// write appends a piece. With L it counts, and raises what goes past a limit.
func (p *Printer) write(piece string) {
	if p.L != nil {
		Work(p.L, 1)
		Grow(p.L, len(piece))
	}
	if _, err := p.b.WriteString(piece); err != nil {
		Raise(p.L, err)
	}
}

func (p *Printer) quoted(text string) string {
	if p.Width > 0 && utf8.RuneCountInString(text) > p.Width {
		return fmt.Sprintf("%.*q…", p.Width, text)
	}
	if p.L != nil {
		Grow(p.L, 4*len(text))
	}
	return strconv.Quote(text)
}

func (p *Printer) table(t *lua.LTable, depth int) {
	switch first, _ := t.Next(lua.LNil); {
	case p.L != nil && p.L.GetMetaField(t, "__tostring") != lua.LNil:
		p.write(p.L.ToStringMeta(t).String())
		return
	case slices.Contains(p.within, t):
		p.write("{ … itself … }")
		return
	case first == lua.LNil:
		p.write("{}")
		return
	case depth >= deepest || p.Depth > 0 && depth >= p.Depth:
		p.write("{ … }")
		return
	}
	p.within = append(p.within, t)
	defer func() { p.within = p.within[:len(p.within)-1] }()

	n, flat := 0, true
	for k, v := range Entries(t) {
		n++
		flat = flat && k == lua.LNil && v.Type() != lua.LTTable
	}
	if p.L != nil {
		Work(p.L, 16*n) // they are sorted
	}
	indent := "\n" + strings.Repeat("  ", depth)
	lead, next, end := "{"+indent+"  ", ","+indent+"  ", ","+indent+"}"
	if p.OneLine || flat {
		lead, next, end = "{ ", ", ", " }"
	}
	written := 0
	for k, v := range Entries(t) {
		p.write(lead)
		lead = next
		if p.Items > 0 && written == p.Items || p.Size > 0 && p.b.Len() > p.Size {
			p.write(fmt.Sprintf("… %d more", n-written))
			end = strings.TrimPrefix(end, ",")
			break
		}
		written++
		p.write(KeyText(k, p.quoted))
		if p.Secrets && IsSecretName(k.String()) {
			p.write("…")
		} else {
			p.value(v, depth+1)
		}
	}
	p.write(end)
}

// Entries iterates over a table as people read it: the list in order, with nil as
// key, then the other keys, sorted.
func Entries(t *lua.LTable) iter.Seq2[lua.LValue, lua.LValue] {
	return func(yield func(k, v lua.LValue) bool) {
		n := table.Length(t)
		for i := 1; i <= n; i++ {
			if !yield(lua.LNil, table.Element(t, i)) {
				return
			}
		}
		var keys []lua.LValue
		t.ForEach(func(k, _ lua.LValue) {
			if i, ok := k.(lua.LNumber); !ok || i < 1 || int(i) > n || lua.LNumber(int(i)) != i {
				keys = append(keys, k)
			}
		})
		slices.SortStableFunc(keys, func(a, b lua.LValue) int {
			x, ok := a.(lua.LNumber)
			if y, both := b.(lua.LNumber); ok && both {
				return cmp.Compare(x, y)
			}
			return cmp.Compare(a.String(), b.String())
		})
		for _, k := range keys {
			if !yield(k, t.RawGet(k)) {
				return
			}
		}
	}
}

// KeyText returns what precedes a value in Lua source: name = , ["a b"] = , or
// nothing in the list.
func KeyText(k lua.LValue, quote func(string) string) string {
	switch k := k.(type) {
	case *lua.LNilType:
		return ""
	case lua.LString:
		if IsName(string(k)) {
			return string(k) + " = "
		}
		return "[" + quote(string(k)) + "] = "
	}
	return "[" + k.String() + "] = "
}

// IsName reports whether a text is written without quotes as a key.
func IsName(text string) bool {
	return text != "" && (text[0] < '0' || text[0] > '9') && strings.IndexFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|token|authorization|api_?-?key|access_?-?key)`)
})

// IsSecretName reports whether a key or a flag of this name holds a secret.
func IsSecretName(name string) bool { return secretName().MatchString(name) }
