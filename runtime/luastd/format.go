package luastd

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/vm"
)

// format is string.format. gopher-lua's writes 0 for a value that is not a
// number, and Go's complaints into the text.
func (l *library) format(L *lua.LState) int {
	text := L.CheckString(1)
	b := l.text(L, "format")
	for next := 2; ; vm.Work(L, 4) {
		before, rest, found := strings.Cut(text, "%")
		b.write(before)
		if !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			b.write("%")
			text = rest[1:]
			continue
		}
		spec := rest[:len(rest)-len(strings.TrimLeft(rest, "-+ #0123456789."))]
		if len(spec) == len(rest) {
			L.RaiseError("bad argument #1 to format (it ends in the middle of %%%s)", spec)
		}
		verb := rest[len(spec)]
		text = rest[len(spec)+1:]
		l.checkSpec(L, spec, verb)
		if next > L.GetTop() {
			L.RaiseError("bad argument #%d to format (no value for %%%s%c)", next, spec, verb)
		}
		b.write(formatOne(L, spec, verb, next))
		next++
	}
	L.Push(lua.LString(b.String()))
	return 1
}

// checkSpec refuses what Lua refuses: flags in the wrong place, widths and
// precisions of more than two digits.
func (l *library) checkSpec(L *lua.LState, spec string, verb byte) {
	if !strings.ContainsRune("cdiouxXeEfgGqs", rune(verb)) {
		L.RaiseError("invalid option '%%%s%c' to 'format'", spec, verb)
	}
	digits := strings.TrimLeft(spec, "-+ #0")
	width, precision, _ := strings.Cut(digits, ".")
	for _, n := range []string{width, precision} {
		size, err := strconv.ParseUint("0"+n, 10, 64)
		l.check(L, "format", float64(size))
		if err != nil || len(n) > 2 {
			L.RaiseError("invalid format (width or precision too long): %%%s%c", spec, verb)
		}
	}
}

func formatOne(L *lua.LState, spec string, verb byte, n int) string {
	switch verb {
	case 's':
		digits := strings.TrimLeft(spec, "-+ #0")
		if strings.Contains(spec[:len(spec)-len(digits)], "-") {
			digits = "-" + digits
		}
		text := L.ToStringMeta(L.Get(n)).String()
		if digits == "" {
			return text
		}
		vm.Grow(L, 2*len(text))
		return fmt.Sprintf("%"+digits+"s", text)
	case 'q':
		vm.Grow(L, 4*len(L.CheckString(n)))
		return luaQuoted(L.CheckString(n))
	case 'c':
		return string([]byte{byte(L.CheckInt(n))})
	case 'd', 'i':
		return fmt.Sprintf("%"+spec+"d", whole(L, n))
	case 'u':
		return fmt.Sprintf("%"+spec+"d", uint64(whole(L, n)))
	case 'o', 'x', 'X':
		return fmt.Sprintf("%"+spec+string(verb), uint64(whole(L, n)))
	}
	number := formatNumber(L, n)
	if math.IsNaN(number) || math.IsInf(number, 0) {
		text := strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(number, 'f', -1, 64), "+"))
		width, _, _ := strings.Cut(spec, ".")
		return fmt.Sprintf("%"+strings.Trim(width, "+ #0")+"s", text)
	}
	if (verb == 'g' || verb == 'G') && !strings.Contains(spec, ".") {
		spec += ".6"
	}
	return fmt.Sprintf("%"+spec+string(verb), number)
}

// formatNumber is an argument that is a number or a numeric string.
func formatNumber(L *lua.LState, n int) float64 {
	switch v := L.Get(n).(type) {
	case lua.LNumber:
		return float64(v)
	case lua.LString:
		if number, ok := readNumber(string(v)); ok {
			return number
		}
	}
	L.RaiseError("bad argument #%d to format (number expected, got %s)", n, vm.TypeName(L.Get(n)))
	return 0
}

// readNumber parses a number as tonumber does.
func readNumber(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "iInNpP_") { // Go accepts more than Lua
		return 0, false
	}
	if digits, hex := strings.CutPrefix(strings.ToLower(text), "0x"); hex {
		n, err := strconv.ParseUint(digits, 16, 64)
		return float64(n), err == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// whole is a number truncated to an integer.
func whole(L *lua.LState, n int) int64 { return int64(formatNumber(L, n)) }

// luaQuoted writes a string literal.
func luaQuoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`).Replace(text) + `"`
}
