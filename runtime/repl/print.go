package repl

import (
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/text"
	lua "github.com/yuin/gopher-lua"

	"transect/bindings"
	"transect/runtime/vm"
)

const (
	maxDepth  = 6    // of nested tables
	maxString = 2000 // runes of a string inside a value
	noLimit   = 1 << 20
)

// printer formats values. The only code of the script it runs is __tostring, whose errors it handles.
type printer struct {
	L     *lua.LState
	width int
	max   int  // of lines; what follows is not formatted
	texts bool // strings are printed raw, for pipes
	names func() names
	seen  map[*lua.LTable]bool
	lines []string
}

// printer returns a printer for the width of the screen; lines in a pipe have no limit.
func (s *Session) printer(L *lua.LState) *printer {
	width, _ := s.size()
	if !s.cfg.Terminal {
		width = noLimit
	}
	return &printer{L: L, width: width, texts: !s.cfg.Terminal,
		names: sync.OnceValue(func() names { return loadedNames(L.G.Global) }), seen: map[*lua.LTable]bool{}}
}

// format returns the page for the values of an input; nil when there is nothing to show.
func (s *Session) format(L *lua.LState, values []lua.LValue) *page {
	p := s.printer(L)
	if len(values) == 1 {
		if page := p.list(values[0]); page != nil {
			return page
		}
		if ud, ok := values[0].(*lua.LUserData); ok && strings.HasPrefix(p.tostring(ud), "file (std") {
			return nil // result of io.write
		}
	}
	colour := s.colours().values
	if _, text := values[0].(lua.LString); text && len(values) == 1 {
		colour = s.colours().quoted // also of the lines a long one is broken into
	}
	return &page{noun: "lines", colour: colour, left: func(int) (int, bool) { return 0, false },
		// Earlier lines are formatted again: values have no position to continue from.
		render: func(L *lua.LState, from, n int) []string {
			p := s.printer(L)
			p.max = from + n
			for _, v := range values {
				p.top(v)
			}
			return p.lines[min(from, len(p.lines)):]
		}}
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
			for line := range strings.SplitSeq(strings.TrimSuffix(string(v), "\n"), "\n") {
				if p.full() {
					return
				}
				if !p.texts {
					line = clean(strings.ReplaceAll(line, "\t", "    "))
				}
				p.add(wrapped(line, p.width, "")...)
			}
			return
		}
		p.add(wrapped(p.line(v, 0), p.width, "  ")...)
		return
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

// full reports whether enough lines are formatted, or the user has interrupted.
func (p *printer) full() bool { return len(p.lines) >= p.max || vm.Context(p.L).Err() != nil }

func (p *printer) add(lines ...string) {
	p.lines = append(p.lines, lines[:min(len(lines), max(0, p.max-len(p.lines)))]...)
}

// wrapped breaks a text into lines of a width; lines after the first begin with an indent.
func wrapped(line string, width int, indent string) []string {
	if width >= noLimit || text.StringWidth(line) <= width {
		return []string{line}
	}
	var lines []string
	var b strings.Builder
	room := width
	for _, r := range line {
		w := text.StringWidth(string(r))
		if w > room {
			lines = append(lines, b.String())
			b.Reset()
			b.WriteString(indent)
			room = max(width-len(indent), 8)
		}
		b.WriteRune(r)
		room -= w
	}
	return append(lines, b.String())
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
		if p.full() {
			return
		}
		lead := "  " + text.Pad(clean(f), widest, ' ') + "  "
		indent := strings.Repeat(" ", text.StringWidth(lead))
		p.add(wrapped(lead+p.line(p.L.GetField(v, f), 1), p.width, indent)...)
	}
}

// table formats a table on one line if it fits, else an entry per line.
func (p *printer) table(t *lua.LTable, lead, end string, depth int) {
	indent := strings.Repeat("  ", depth)
	// lines in a pipe have a readable length, too
	room := min(p.width, 100) - len(indent) - text.StringWidth(lead) - len(end)
	if line := p.short(t, noLimit, depth); text.StringWidth(line) <= room && !strings.HasSuffix(line, cut) ||
		depth >= maxDepth || p.seen[t] {
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
		if p.full() {
			return
		}
		lead := vm.KeyText(k, quoted)
		inner, isTable := v.(*lua.LTable)
		switch {
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
			p.add(wrapped(indent+"  "+lead+p.line(v, depth+1)+",", p.width, indent+"    ")...)
		}
	}
	flush()
	p.add(indent + "}" + end)
}
