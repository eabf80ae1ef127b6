package vm

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// How much of a raised table is shown.
const (
	shownDepth   = 3
	shownEntries = 20  // of each table
	shownText    = 80  // bytes of each text
	shownTotal   = 600 // bytes
)

// shown formats a raised value in one line as Lua source, shortened. Values of
// keys that name secrets are left out.
func shown(v lua.LValue) string {
	s := &printer{}
	s.value(v, 0)
	return s.String()
}

type printer struct {
	strings.Builder
	within []*lua.LTable
}

func (s *printer) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		s.WriteString(quotedText(string(v)))
	case *lua.LTable:
		s.table(v, depth)
	case *lua.LUserData:
		s.WriteString(errorText(v))
	default:
		s.WriteString(v.String())
	}
}

func quotedText(text string) string {
	if len(text) > shownText {
		return strconv.Quote(strings.ToValidUTF8(text[:shownText], "")) + "…"
	}
	return strconv.Quote(text)
}

func (s *printer) table(t *lua.LTable, depth int) {
	for _, outer := range s.within {
		if outer == t {
			s.WriteString("{ … itself … }")
			return
		}
	}
	if depth == shownDepth {
		s.WriteString("{ … }")
		return
	}
	s.within = append(s.within, t)
	defer func() { s.within = s.within[:len(s.within)-1] }()
	n, lead := 0, "{ "
	for k, v := range Entries(t) {
		if n++; n > shownEntries || s.Len() > shownTotal {
			s.WriteString(lead + "…")
			break
		}
		s.WriteString(lead + KeyText(k, quotedText))
		lead = ", "
		if secretKey(k.String()) {
			s.WriteString("…")
		} else {
			s.value(v, depth+1)
		}
	}
	if n == 0 {
		s.WriteString("{}")
		return
	}
	s.WriteString(" }")
}

// Entries iterates over a table as people read it: the list in order, with nil as
// key, then the other keys, sorted.
func Entries(t *lua.LTable) iter.Seq2[lua.LValue, lua.LValue] {
	return func(yield func(k, v lua.LValue) bool) {
		n := t.Len()
		for i := 1; i <= n; i++ {
			if !yield(lua.LNil, t.RawGetInt(i)) {
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

// KeyText is what stands before a value in Lua source: name = , ["a b"] = , or
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

func secretKey(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"password", "secret", "token", "passphrase", "authorization"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
