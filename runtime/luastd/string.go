package luastd

import (
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/luastd/pattern"
	"transect/runtime/vm"
)

// openString replaces the functions with patterns. Those of the interpreter find
// all matches in one go that nothing can end, and take quadratic time to
// replace them.
func (l *library) openString() {
	lib := l.L.GetGlobal("string").(*lua.LTable)
	l.set("string", map[string]lua.LGFunction{
		"find":   func(L *lua.LState) int { return findText(L, true) },
		"match":  func(L *lua.LState) int { return findText(L, false) },
		"gmatch": gmatch,
		"gsub":   l.gsub,
		"format": format,
	})
	l.bound(lib, "rep", func(L *lua.LState) float64 {
		return float64(len(L.CheckString(1))) * float64(L.CheckNumber(2))
	})
	l.bound(lib, "format", formatted)
	lib.RawSetString("gfind", lib.RawGetString("gmatch"))
}

func matcher(L *lua.LState, text, pat string) *pattern.Matcher {
	return &pattern.Matcher{Text: text, Pattern: pat, Steps: func(n int) { vm.Work(L, n) }}
}

func findText(L *lua.LState, places bool) int {
	text, pat := L.CheckString(1), L.CheckString(2)
	from := L.OptInt(3, 1)
	if from < 0 {
		from += len(text) + 1
	}
	from = min(max(from-1, 0), len(text))
	if places && (lua.LVAsBool(L.Get(4)) || !strings.ContainsAny(pat, "^$*+?.([%-")) {
		at := strings.Index(text[from:], pat)
		if at < 0 {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LNumber(from + at + 1))
		L.Push(lua.LNumber(from + at + len(pat)))
		return 2
	}
	m := matcher(L, text, pat)
	start, end, err := m.Find(from)
	if err != nil {
		L.RaiseError("%s", err)
	}
	if end < 0 {
		L.Push(lua.LNil)
		return 1
	}
	if places {
		L.Push(lua.LNumber(start + 1))
		L.Push(lua.LNumber(end))
		return 2 + vm.Push(L, captured(L, m, nil))
	}
	return vm.Push(L, captured(L, m, &[2]int{start, end}))
}

// captured gives the captures of the last match; the whole match when there
// are none and whole is given.
func captured(L *lua.LState, m *pattern.Matcher, whole *[2]int) []lua.LValue {
	list, err := m.Captures()
	if err != nil {
		L.RaiseError("%s", err)
	}
	if len(list) == 0 && whole != nil {
		return []lua.LValue{lua.LString(m.Text[whole[0]:whole[1]])}
	}
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

func gmatch(L *lua.LState) int {
	text, pat := L.CheckString(1), L.CheckString(2)
	at := 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		m := matcher(L, text, pat)
		for ; at <= len(text); at++ {
			end, err := m.Match(at)
			if err != nil {
				L.RaiseError("%s", err)
			}
			if end >= 0 {
				whole := [2]int{at, end}
				if at = end; end == whole[0] {
					at++ // an empty match: go on behind it
				}
				return vm.Push(L, captured(L, m, &whole))
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
	most := L.OptInt(4, len(text)+1)
	m := matcher(L, text, pat)
	var b strings.Builder
	at, n := 0, 0
	for n < most {
		vm.Work(L, 1)
		end, err := m.MatchAnchored(at)
		if err != nil {
			L.RaiseError("%s", err)
		}
		if end >= 0 {
			n++
			b.WriteString(replacement(L, m, with, at, end))
			if b.Len() > l.in.MaxText() {
				vm.Raise(L, l.tooLong("gsub", float64(b.Len())))
			}
		}
		switch {
		case end > at:
			at = end
		case at < len(text):
			b.WriteByte(text[at])
			at++
		default:
			at = len(text) + 1
		}
		if at > len(text) || strings.HasPrefix(pat, "^") {
			break
		}
	}
	if at < len(text) {
		b.WriteString(text[at:])
	}
	L.Push(lua.LString(b.String()))
	L.Push(lua.LNumber(n))
	return 2
}

// replacement is what gsub puts in the place of the match from start to end.
func replacement(L *lua.LState, m *pattern.Matcher, with lua.LValue, start, end int) string {
	whole := m.Text[start:end]
	values := captured(L, m, &[2]int{start, end})
	var v lua.LValue
	switch with := with.(type) {
	case *lua.LTable:
		v = L.GetTable(with, values[0])
	case *lua.LFunction:
		L.Push(with)
		vm.Push(L, values)
		L.Call(len(values), 1)
		v = L.Get(-1)
		L.Pop(1)
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

// expand puts captures for %0 … %9; %% is a single one, and any other stays.
func expand(L *lua.LState, with, whole string, values []lua.LValue) string {
	if strings.IndexByte(with, '%') < 0 {
		return with
	}
	var b strings.Builder
	for i := 0; i < len(with); i++ {
		if with[i] != '%' || i+1 == len(with) {
			b.WriteByte(with[i])
			continue
		}
		i++
		switch c := with[i]; {
		case c == '0':
			b.WriteString(whole)
		case c >= '1' && c <= '9':
			if int(c-'1') >= len(values) {
				L.RaiseError("invalid capture index")
			}
			b.WriteString(values[c-'1'].String())
		case c == '%':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(c)
		}
	}
	return b.String()
}
