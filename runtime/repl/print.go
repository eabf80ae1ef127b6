package repl

import (
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
)

const (
	mostLines   = 5000 // that are laid out of one value on a terminal
	mostDepth   = 6    // tables inside one another
	longestText = 2000 // runes of a text inside a value
	noLimit     = 1 << 20
)

// printer lays values out for people. It never runs more of a script than
// __tostring, and survives what that raises.
type printer struct {
	L     *lua.LState
	width int
	most  int  // lines that are laid out
	texts bool // texts are shown as they are, for pipes
	seen  map[*lua.LTable]bool
	lines []string
	left  int // things not laid out
}

// printed lays out the values of an input.
func (s *Session) printed(L *lua.LState, values []lua.LValue) *page {
	width, _ := s.size()
	most := mostLines
	if !s.cfg.Terminal {
		width, most = noLimit, math.MaxInt
	}
	p := &printer{L: L, width: width, most: most, texts: !s.cfg.Terminal, seen: map[*lua.LTable]bool{}}
	if len(values) == 1 {
		if page := p.special(values[0]); page != nil {
			return page
		}
	}
	for _, v := range values {
		p.top(v)
	}
	return &page{lines: p.lines, more: p.left, noun: "lines"}
}

// special lays out what has a form of its own.
func (p *printer) special(v lua.LValue) *page {
	t, ok := v.(*lua.LTable)
	if !ok || bindings.ManagerOf(v) != "" {
		return nil
	}
	if page := p.records(t); page != nil {
		return page
	}
	results, ok := t.RawGetString("results").(*lua.LTable)
	if total := t.RawGetString("total"); ok && total.Type() == lua.LTNumber {
		if page := p.records(results); page != nil {
			page.head = append([]string{"total " + total.String()}, page.head...)
			return page
		}
	}
	return nil
}

// top lays out a value by itself.
func (p *printer) top(v lua.LValue) {
	switch v := v.(type) {
	case lua.LString:
		if p.texts || strings.Contains(strings.TrimRight(string(v), "\n"), "\n") {
			p.add(strings.Split(p.shown(strings.TrimSuffix(string(v), "\n")), "\n")...)
			return
		}
	case *lua.LUserData:
		if r, ok := bindings.RecordOf(v); ok {
			p.record(v, r)
			return
		}
	case *lua.LTable:
		if p.plain(v) {
			p.table(v, "", "", 0)
			return
		}
	}
	p.add(p.short(v, p.width, 0))
}

// shown is a text as it is; on a terminal without what would drive it.
func (p *printer) shown(s string) string {
	if p.texts {
		return s
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = text.Snip(clean(strings.ReplaceAll(lines[i], "\t", "    ")), p.width, "…")
	}
	return strings.Join(lines, "\n")
}

func (p *printer) add(lines ...string) {
	for _, line := range lines {
		if len(p.lines) >= p.most {
			p.left++
			continue
		}
		p.lines = append(p.lines, line)
	}
}

// plain tells a table whose contents are to be shown from one that has a text.
func (p *printer) plain(t *lua.LTable) bool {
	return bindings.ManagerOf(t) == "" && p.L.GetMetaField(t, "__tostring") == lua.LNil && geometry(t) == "" && nameOf(p.L, t) == ""
}

// record lays out one resource, a field a line.
func (p *printer) record(v *lua.LUserData, r bindings.Record) {
	p.add(text.Snip(clean(r.Text), p.width, "…"))
	widest := 0
	for _, f := range r.Fields {
		widest = max(widest, text.StringWidth(clean(f)))
	}
	widest = min(widest, 30)
	for _, f := range r.Fields {
		lead := "  " + text.Pad(clean(f), widest, ' ') + "  "
		p.add(lead + p.short(p.L.GetField(v, f), p.width-text.StringWidth(lead), 1))
	}
}

// table lays a table out in one line where it fits, else an entry a line.
func (p *printer) table(t *lua.LTable, lead, end string, depth int) {
	indent := strings.Repeat("  ", depth)
	room := min(p.width, 100) - len(indent) - text.StringWidth(lead) - len(end) // a pipe has no width, but lines want to be read
	if line := p.short(t, noLimit, depth); text.StringWidth(line) <= room && !strings.HasSuffix(line, cut) || depth >= mostDepth || p.seen[t] {
		p.add(indent + lead + text.Snip(line, max(room, 10), "…") + end)
		return
	}
	p.seen[t] = true
	defer delete(p.seen, t)
	p.add(indent + lead + "{")
	row := "" // short entries of a list share lines
	entries(t, func(k, v lua.LValue) bool {
		if len(p.lines) >= p.most {
			p.left++
			return true
		}
		lead := key(k)
		if k == lua.LNil && isShort(v) {
			if next := p.line(v, depth+1) + ","; row == "" {
				row = next
			} else if len(indent)+3+text.StringWidth(row)+text.StringWidth(next) <= min(p.width, 100) {
				row += " " + next
			} else {
				p.add(indent + "  " + row)
				row = next
			}
			return true
		}
		if row != "" {
			p.add(indent + "  " + row)
			row = ""
		}
		if inner, ok := v.(*lua.LTable); ok && p.plain(inner) {
			p.table(inner, lead, ",", depth+1)
		} else {
			p.add(indent + "  " + lead + p.short(v, max(10, p.width-len(indent)-3-text.StringWidth(lead)), depth+1) + ",")
		}
		return true
	})
	if row != "" {
		p.add(indent + "  " + row)
	}
	p.add(indent + "}" + end)
}
