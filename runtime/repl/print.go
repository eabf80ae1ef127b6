package repl

import (
	"math"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/text"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/runtime/vm"
)

const (
	maxLines  = 5000 // of one value on a terminal
	maxDepth  = 6    // of nested tables
	maxString = 2000 // runes of a string inside a value
	noLimit   = 1 << 20
)

// printer formats values. It runs no code of the script but __tostring, whose
// errors it handles.
type printer struct {
	L     *lua.LState
	width int
	max   int  // of lines
	texts bool // strings are printed raw, for pipes
	names func() names
	seen  map[*lua.LTable]bool
	lines []string
	left  int // entries that were not formatted
}

// format formats the values of an input.
func (s *Session) format(L *lua.LState, values []lua.LValue) *page {
	width, _ := s.size()
	maxRows := maxLines
	if !s.cfg.Terminal {
		width, maxRows = noLimit, math.MaxInt
	}
	p := &printer{L: L, width: width, max: maxRows, texts: !s.cfg.Terminal, names: sync.OnceValue(func() names { return loadedNames(L.G.Global) }), seen: map[*lua.LTable]bool{}}
	if len(values) == 1 {
		if page := p.list(values[0]); page != nil {
			return page
		}
	}
	for _, v := range values {
		p.top(v)
	}
	return &page{lines: p.lines, more: p.left, noun: "lines"}
}

// list formats lists of records as tables.
func (p *printer) list(v lua.LValue) *page {
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

// top formats a top-level value.
func (p *printer) top(v lua.LValue) {
	switch v := v.(type) {
	case lua.LString:
		if p.texts || strings.Contains(strings.TrimRight(string(v), "\n"), "\n") {
			p.add(strings.Split(p.rawText(strings.TrimSuffix(string(v), "\n")), "\n")...)
			return
		}
	case *lua.LUserData:
		if r, ok := bindings.RecordOf(v); ok {
			p.record(v, r)
			return
		}
	case *lua.LTable:
		if p.isPlain(v) {
			p.table(v, "", "", 0)
			return
		}
	}
	p.add(p.short(v, p.width, 0))
}

// rawText is a string as it is; on a terminal without control characters.
func (p *printer) rawText(s string) string {
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
		if len(p.lines) >= p.max {
			p.left++
			continue
		}
		p.lines = append(p.lines, line)
	}
}

// isPlain distinguishes tables whose content is shown from those with a text
// form.
func (p *printer) isPlain(t *lua.LTable) bool {
	return p.names().of(t) == "" && p.L.GetMetaField(t, "__tostring") == lua.LNil && geometryText(t) == ""
}

// record formats one record, a field per line.
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

// table formats a table on one line if it fits, else an entry per line.
func (p *printer) table(t *lua.LTable, lead, end string, depth int) {
	indent := strings.Repeat("  ", depth)
	room := min(p.width, 100) - len(indent) - text.StringWidth(lead) - len(end) // lines in a pipe have a readable length, too
	if line := p.short(t, noLimit, depth); text.StringWidth(line) <= room && !strings.HasSuffix(line, cut) || depth >= maxDepth || p.seen[t] {
		p.add(indent + lead + text.Snip(line, max(room, 10), "…") + end)
		return
	}
	p.seen[t] = true
	defer delete(p.seen, t)
	p.add(indent + lead + "{")
	row := "" // short list entries share a line
	flush := func() {
		if row != "" {
			p.add(indent + "  " + row)
			row = ""
		}
	}
	for k, v := range vm.Entries(t) {
		lead := vm.KeyText(k, quoted)
		inner, isTable := v.(*lua.LTable)
		switch {
		case len(p.lines) >= p.max:
			p.left++
		case k == lua.LNil && isShort(v):
			next := p.line(v, depth+1) + ","
			if row != "" && len(indent)+3+text.StringWidth(row)+text.StringWidth(next) > min(p.width, 100) {
				flush()
			}
			row = strings.TrimLeft(row+" "+next, " ")
		case isTable && p.isPlain(inner):
			flush()
			p.table(inner, lead, ",", depth+1)
		default:
			flush()
			p.add(indent + "  " + lead + p.short(v, max(10, p.width-len(indent)-3-text.StringWidth(lead)), depth+1) + ",")
		}
	}
	flush()
	p.add(indent + "}" + end)
}
