package luastd

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/engine/pattern"
	"transect/runtime/vm"
)

func (l *library) openString(L *lua.LState) {
	set(L, "string", map[string]lua.LGFunction{
		"byte": bytesOf, "char": char, "find": find, "format": l.format, "gmatch": gmatch, "gsub": l.gsub, "len": textLength,
		"lower": lower, "match": match, "rep": l.rep, "reverse": reverse, "sub": sub, "upper": upper,
		"dump": absent("string.dump",
			"compiled code has no form outside of the interpreter; keep the source and use loadstring"),
	})
	texts := L.GetGlobal("string").(*lua.LTable)
	texts.RawSetString("gfind", texts.RawGetString("gmatch"))
	vm.DoubtText(L, texts)
	l.ofTexts = texts.Metatable
}

// absent returns a function of Lua 5.1 that this interpreter lacks; it raises an error.
func absent(name, instead string) lua.LGFunction {
	return func(L *lua.LState) int {
		vm.RaiseText(L, "%s is not available: %s", name, instead)
		return 0
	}
}

// length returns the length of a text argument.
func length(L *lua.LState, arg int) int {
	text, _ := L.Get(arg).(lua.LString)
	return len(text)
}

// relative returns a position in a text; negative ones count from its end.
func relative(at, size int) int {
	if at < 0 {
		at += size + 1
	}
	return max(at, 0)
}

func textLength(L *lua.LState) int {
	return vm.Push(L, lua.LNumber(len(checkString(L, 1))))
}

func sub(L *lua.LState) int {
	text := checkString(L, 1)
	from := max(relative(checkLong(L, 2), len(text)), 1)
	to := min(relative(optLong(L, 3, -1), len(text)), len(text))
	if from > to {
		return vm.Push(L, lua.LString(""))
	}
	return vm.Push(L, lua.LString(text[from-1:to]))
}

func reverse(L *lua.LState) int {
	text := checkString(L, 1)
	vm.Grow(L, 2*len(text))
	reversed := make([]byte, len(text))
	for i := range len(text) {
		reversed[len(text)-1-i] = text[i]
	}
	return vm.Push(L, lua.LString(reversed))
}

func lower(L *lua.LState) int { return mapped(L, 'A', 'Z') }
func upper(L *lua.LState) int { return mapped(L, 'a', 'z') }

// mapped returns a text with the letters of a range in the other case; bytes beyond ASCII stay.
func mapped(L *lua.LState, first, last byte) int {
	text := checkString(L, 1)
	vm.Grow(L, len(text))
	other := make([]byte, len(text))
	for i := range len(text) {
		c := text[i]
		if c >= first && c <= last {
			c ^= 0x20
		}
		other[i] = c
	}
	return vm.Push(L, lua.LString(other))
}

func bytesOf(L *lua.LState) int {
	text := checkString(L, 1)
	from := relative(optLong(L, 2, 1), len(text))
	to := min(relative(optLong(L, 3, from), len(text)), len(text))
	from = max(from, 1)
	n := max(to-from+1, 0)
	if n > maxUnpack {
		vm.RaiseText(L, "string slice too long")
	}
	vm.Work(L, n/4)
	for i := from; i <= to; i++ {
		L.Push(lua.LNumber(text[i-1]))
	}
	return n
}

func char(L *lua.LState) int {
	text := make([]byte, L.GetTop())
	vm.Work(L, len(text)/4)
	for i := range text {
		c := checkInt(L, i+1)
		if c < 0 || c > math.MaxUint8 {
			vm.ArgError(L, i+1, "invalid value")
		}
		text[i] = byte(c)
	}
	return vm.Push(L, lua.LString(text))
}

func (l *library) rep(L *lua.LState) int {
	text, n := checkString(L, 1), max(checkLong(L, 2), 0)
	l.check(L, "rep", float64(len(text))*float64(n))
	vm.Grow(L, len(text)*n)
	return vm.Push(L, lua.LString(strings.Repeat(text, n)))
}

// The functions with patterns. gopher-lua's find all matches in one call that
// cannot be cancelled, and its gsub takes quadratic time.

func matcher(L *lua.LState, text, pat string) *pattern.Matcher {
	return &pattern.Matcher{Text: text, Pattern: pat, Steps: func(n int) { vm.Work(L, n) }}
}

// must raises an error of a pattern.
func must(L *lua.LState, err error) {
	if err != nil {
		vm.RaiseText(L, "%s", err)
	}
}

// start returns the argument init of find and match, from 0.
func start(L *lua.LState, text string) int {
	return min(max(relative(optLong(L, 3, 1), len(text))-1, 0), len(text))
}

func find(L *lua.LState) int {
	text, pat := checkString(L, 1), checkString(L, 2)
	from := start(L, text)
	vm.Work(L, len(pat)/64)
	if isTrue(L.Get(4)) || !strings.ContainsAny(pat, "^$*+?.([%-") {
		vm.Work(L, (len(text)-from)/128)
		i := strings.Index(text[from:], pat)
		if i < 0 {
			return vm.Push(L, lua.LNil)
		}
		return vm.Push(L, lua.LNumber(from+i+1), lua.LNumber(from+i+len(pat)))
	}
	m := matcher(L, text, pat)
	begin, end, err := m.Find(from)
	must(L, err)
	if end < 0 {
		return vm.Push(L, lua.LNil)
	}
	return vm.Push(L, append([]lua.LValue{lua.LNumber(begin + 1), lua.LNumber(end)}, captures(L, m)...)...)
}

func match(L *lua.LState) int {
	text, pat := checkString(L, 1), checkString(L, 2)
	m := matcher(L, text, pat)
	begin, end, err := m.Find(start(L, text))
	must(L, err)
	if end < 0 {
		return vm.Push(L, lua.LNil)
	}
	return vm.Push(L, capturesOr(L, m, begin, end)...)
}

// captures returns the captures of the last match.
func captures(L *lua.LState, m *pattern.Matcher) []lua.LValue {
	values := make([]lua.LValue, m.Level())
	for i := range values {
		values[i] = capture(L, m, i)
	}
	return values
}

func capture(L *lua.LState, m *pattern.Matcher, i int) lua.LValue {
	c, err := m.Capture(i)
	must(L, err)
	if c.Position {
		return lua.LNumber(c.Start + 1)
	}
	return lua.LString(m.Text[c.Start : c.Start+c.Len])
}

// capturesOr returns the captures, or the whole match when the pattern has none.
func capturesOr(L *lua.LState, m *pattern.Matcher, begin, end int) []lua.LValue {
	if m.Level() == 0 {
		return []lua.LValue{lua.LString(m.Text[begin:end])}
	}
	return captures(L, m)
}

func gmatch(L *lua.LState) int {
	text, pat := checkString(L, 1), checkString(L, 2)
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
				return vm.Push(L, capturesOr(L, m, begin, end)...)
			}
		}
		return 0
	}))
	return 1
}

func (l *library) gsub(L *lua.LState) int {
	text, pat := checkString(L, 1), checkString(L, 2)
	with := L.Get(3)
	switch with.(type) {
	case lua.LString, lua.LNumber, *lua.LTable, *lua.LFunction:
	default:
		vm.ArgError(L, 3, "string/function/table expected")
	}
	limit := optInt(L, 4, len(text)+1)
	m := matcher(L, text, pat)
	b := l.text(L, "gsub")
	i, n := 0, 0
	for n < limit {
		vm.Work(L, 1)
		end, err := m.MatchAnchored(i)
		must(L, err)
		if end >= 0 {
			n++
			replace(b, m, with, i, end)
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
	return vm.Push(L, lua.LString(b.String()), lua.LNumber(n))
}

// replace appends gsub's replacement for a match.
func replace(b *text, m *pattern.Matcher, with lua.LValue, begin, end int) {
	var v lua.LValue
	switch with := with.(type) {
	case *lua.LTable:
		v = b.L.GetTable(with, capturesOr(b.L, m, begin, end)[0])
	case *lua.LFunction:
		v = vm.Call(b.L, with, capturesOr(b.L, m, begin, end)...)
	default:
		format, _ := number.TextOf(with)
		expand(b, m, format, m.Text[begin:end])
		return
	}
	if !isTrue(v) {
		b.write(m.Text[begin:end])
		return
	}
	piece, ok := number.TextOf(v)
	if !ok {
		vm.RaiseText(b.L, "invalid replacement value (a %s)", v.Type())
	}
	b.write(piece)
}

// expand appends a format in which %0 to %9 are captures; any other character after % is literal.
func expand(b *text, m *pattern.Matcher, format, whole string) {
	vm.Grow(b.L, len(format)) // it may be long and append nothing
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			b.write(format)
			return
		}
		b.write(format[:i])
		if format = format[i+1:]; format == "" {
			b.write("\x00") // C's strings end there
			return
		}
		switch c := format[0]; {
		case c == '0', c == '1' && m.Level() == 0:
			b.write(whole)
		case '1' <= c && c <= '9':
			piece, _ := number.TextOf(capture(b.L, m, int(c-'1')))
			b.write(piece)
		default:
			b.write(format[:1])
		}
		format = format[1:]
	}
}
