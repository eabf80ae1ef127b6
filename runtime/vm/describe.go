package vm

import (
	"sort"
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
	n := 0
	more := func() bool { // there is room for another entry
		if n++; n > shownEntries || s.Len() > shownTotal {
			if n > 0 {
				s.WriteString(", …")
				n = -1 << 30 // once
			}
			return false
		}
		s.WriteString([]string{"{ ", ", "}[min(n-1, 1)])
		return true
	}
	length := t.Len()
	for i := 1; i <= length; i++ {
		if !more() {
			break
		}
		s.value(t.RawGetInt(i), depth+1)
	}
	var keys []lua.LValue
	t.ForEach(func(k, _ lua.LValue) {
		if i, ok := k.(lua.LNumber); !ok || i < 1 || int(i) > length || lua.LNumber(int(i)) != i {
			keys = append(keys, k)
		}
	})
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	for _, k := range keys {
		if n < 0 || !more() {
			break
		}
		s.key(k)
		if secretKey(k.String()) {
			s.WriteString("…")
			continue
		}
		s.value(t.RawGet(k), depth+1)
	}
	if n == 0 {
		s.WriteString("{}")
		return
	}
	s.WriteString(" }")
}

func (s *printer) key(k lua.LValue) {
	name, ok := k.(lua.LString)
	plain := ok && name != "" && strings.IndexFunc(string(name), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0 && (name[0] < '0' || name[0] > '9')
	switch {
	case plain:
		s.WriteString(string(name) + " = ")
	case ok:
		s.WriteString("[" + quotedText(string(name)) + "] = ")
	default:
		s.WriteString("[" + k.String() + "] = ")
	}
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
