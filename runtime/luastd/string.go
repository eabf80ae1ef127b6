package luastd

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/luastd/pattern"
	"transect/runtime/vm"
)

func (l *library) rep(L *lua.LState) int {
	text, n := L.CheckString(1), L.CheckNumber(2)
	l.check(L, "rep", float64(len(text))*float64(n))
	vm.Grow(L, len(text)*max(int(n), 0))
	L.Push(lua.LString(strings.Repeat(text, max(int(n), 0))))
	return 1
}

// The functions with patterns. gopher-lua's find all matches in one call that
// cannot be cancelled, and its gsub takes quadratic time.

func matcher(L *lua.LState, text, pat string) *pattern.Matcher {
	return &pattern.Matcher{Text: text, Pattern: pat, Steps: func(n int) { vm.Work(L, n) }}
}

// must raises what is wrong with a pattern.
func must(L *lua.LState, err error) {
	if err != nil {
		L.RaiseError("%s", err)
	}
}

// start is the argument init of find and match, from 0.
func start(L *lua.LState, text string) int {
	from := L.OptInt(3, 1)
	if from < 0 {
		from += len(text) + 1
	}
	return min(max(from-1, 0), len(text))
}

func find(L *lua.LState) int {
	text, pat := L.CheckString(1), L.CheckString(2)
	from := start(L, text)
	vm.Work(L, len(pat)/64)
	if lua.LVAsBool(L.Get(4)) || !strings.ContainsAny(pat, "^$*+?.([%-") {
		vm.Work(L, (len(text)-from)/128)
		i := strings.Index(text[from:], pat)
		if i < 0 {
			L.Push(lua.LNil)
			return 1
		}
		return vm.Push(L, []lua.LValue{lua.LNumber(from + i + 1), lua.LNumber(from + i + len(pat))})
	}
	m := matcher(L, text, pat)
	begin, end, err := m.Find(from)
	must(L, err)
	if end < 0 {
		L.Push(lua.LNil)
		return 1
	}
	return vm.Push(L, append([]lua.LValue{lua.LNumber(begin + 1), lua.LNumber(end)}, captures(L, m)...))
}

func match(L *lua.LState) int {
	text, pat := L.CheckString(1), L.CheckString(2)
	m := matcher(L, text, pat)
	begin, end, err := m.Find(start(L, text))
	must(L, err)
	if end < 0 {
		L.Push(lua.LNil)
		return 1
	}
	return vm.Push(L, capturesOr(L, m, begin, end))
}

// captures are the captures of the last match.
func captures(L *lua.LState, m *pattern.Matcher) []lua.LValue {
	list, err := m.Captures()
	must(L, err)
	values := make([]lua.LValue, len(list))
	for i, c := range list {
		if c.Position {
			values[i] = lua.LNumber(c.Start + 1)
		} else {
			values[i] = lua.LString(m.Text[c.Start : c.Start+c.Len])
		}
	}
	return values
}

// capturesOr is captures, or the whole match when the pattern has none.
func capturesOr(L *lua.LState, m *pattern.Matcher, begin, end int) []lua.LValue {
	values := captures(L, m)
	if len(values) == 0 {
		values = []lua.LValue{lua.LString(m.Text[begin:end])}
	}
	return values
}

func gmatch(L *lua.LState) int {
	text, pat := L.CheckString(1), L.CheckString(2)
	next := 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		m := matcher(L, text, pat)
		for ; next <= len(text); next++ {
			begin := next
			end, err := m.Match(begin)
			must(L, err)
			if end >= 0 {
				if next = end; end == begin {
					next++ // empty matches must not repeat
				}
				return vm.Push(L, capturesOr(L, m, begin, end))
			}
		}
		L.Push(lua.LNil)
		return 1
	}))
	return 1
}

func (l *library) gsub(L *lua.LState) int {
	text, pat := L.CheckString(1), L.CheckString(2)
	with := L.Get(3)
	switch with.(type) {
	case lua.LString, lua.LNumber, *lua.LTable, *lua.LFunction:
	default:
		L.ArgError(3, "string/function/table expected")
	}
	limit := L.OptInt(4, len(text)+1)
	m := matcher(L, text, pat)
	b := l.text(L, "gsub")
	i, n := 0, 0
	for n < limit {
		vm.Work(L, 1)
		end, err := m.MatchAnchored(i)
		must(L, err)
		if end >= 0 {
			n++
			b.write(replacement(L, m, with, i, end))
		}
		switch {
		case end > i:
			i = end
		case i < len(text):
			b.write(text[i : i+1])
			i++
		default:
			i = len(text) + 1
		}
		if i > len(text) || strings.HasPrefix(pat, "^") {
			break
		}
	}
	if i < len(text) {
		b.write(text[i:])
	}
	return vm.Push(L, []lua.LValue{lua.LString(b.String()), lua.LNumber(n)})
}

// replacement is what gsub puts in place of a match.
func replacement(L *lua.LState, m *pattern.Matcher, with lua.LValue, begin, end int) string {
	whole := m.Text[begin:end]
	values := capturesOr(L, m, begin, end)
	var v lua.LValue
	switch with := with.(type) {
	case *lua.LTable:
		v = L.GetTable(with, values[0])
	case *lua.LFunction:
		v = vm.Call(L, with, values...)
	default:
		return expand(L, with.String(), whole, values)
	}
	switch v.(type) {
	case lua.LString, lua.LNumber:
		return v.String()
	}
	if lua.LVAsBool(v) {
		L.RaiseError("invalid replacement value (a %s)", v.Type())
	}
	return whole
}

// expand replaces %0 to %9 by captures and %% by %; any other % stays.
func expand(L *lua.LState, with, whole string, values []lua.LValue) string {
	if strings.IndexByte(with, '%') < 0 {
		return with
	}
	vm.Grow(L, len(with)) // which may be long and replace nothing
	b := &text{vm.Of(L).NewText("gsub"), L}
	for i := 0; i < len(with); i++ {
		if with[i] != '%' || i+1 == len(with) {
			b.write(with[i : i+1])
			continue
		}
		i++
		switch c := with[i]; {
		case c == '0':
			b.write(whole)
		case c >= '1' && c <= '9':
			if int(c-'1') >= len(values) {
				L.RaiseError("invalid capture index")
			}
			b.write(values[c-'1'].String())
		case c == '%':
			b.write("%")
		default:
			b.write(with[i-1 : i+1])
		}
	}
	return b.String()
}
