package stdlib

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// printer writes values as Lua would read them, within limits; 0 is none.
type printer struct {
	L    *lua.LState
	b    strings.Builder
	seen map[*lua.LTable]bool // those one is in

	depth, items, width int
}

// deepest is how far down it goes at most, so that nothing nested endlessly
// fills the memory.
const deepest = 200

func (p *printer) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		text := string(v)
		if short := cut(text, p.width); short != text {
			fmt.Fprintf(&p.b, "%q…", short)
			return
		}
		p.b.WriteString(strconv.Quote(text))
	case *lua.LTable:
		p.table(v, depth)
	default:
		p.b.WriteString(p.L.ToStringMeta(v).String())
	}
}

func (p *printer) table(t *lua.LTable, depth int) {
	switch {
	case p.L.GetMetaField(t, "__tostring") != lua.LNil:
		p.b.WriteString(p.L.ToStringMeta(t).String())
		return
	case p.seen[t]:
		p.b.WriteString("{ … itself … }")
		return
	}
	p.seen[t] = true
	defer delete(p.seen, t)

	length := t.Len()
	var keys []lua.LValue
	flat := true
	if most := p.depth; depth >= deepest || most > 0 && depth >= most {
		if k, _ := t.Next(lua.LNil); k == lua.LNil {
			p.b.WriteString("{}")
		} else {
			p.b.WriteString("{ … }")
		}
		return
	}
	t.ForEach(func(k, v lua.LValue) {
		if _, nested := v.(*lua.LTable); nested {
			flat = false
		}
		if n, ok := k.(lua.LNumber); ok && n >= 1 && float64(n) <= float64(length) && float64(n) == math.Trunc(float64(n)) {
			return
		}
		keys = append(keys, k)
	})
	if length == 0 && len(keys) == 0 {
		p.b.WriteString("{}")
		return
	}
	left := 0
	if total := length + len(keys); p.items > 0 && total > p.items {
		left = total - p.items
	}
	if flat && len(keys) == 0 {
		p.b.WriteString("{ ")
		for i := 1; i <= length-left; i++ {
			if i > 1 {
				p.b.WriteString(", ")
			}
			p.value(t.RawGetInt(i), depth)
		}
		if left > 0 {
			fmt.Fprintf(&p.b, ", … %d more", left)
		}
		p.b.WriteString(" }")
		return
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	indent := strings.Repeat("  ", depth+1)
	p.b.WriteString("{\n")
	shown := length + len(keys) - left
	for i := 1; i <= min(length, shown); i++ {
		p.b.WriteString(indent)
		p.value(t.RawGetInt(i), depth+1)
		p.b.WriteString(",\n")
	}
	for _, k := range keys[:max(0, shown-length)] {
		p.b.WriteString(indent + keyText(k) + " = ")
		p.value(t.RawGet(k), depth+1)
		p.b.WriteString(",\n")
	}
	if left > 0 {
		fmt.Fprintf(&p.b, "%s… %d more\n", indent, left)
	}
	p.b.WriteString(indent[2:] + "}")
}

func keyText(k lua.LValue) string {
	s, ok := k.(lua.LString)
	if !ok {
		return "[" + k.String() + "]"
	}
	for i, r := range string(s) {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return fmt.Sprintf("[%q]", string(s))
		}
	}
	return string(s)
}
