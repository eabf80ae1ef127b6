package luastd

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"transect/runtime/engine/number"
	"transect/runtime/vm"
)

// format implements string.format. Unlike in Lua 5.1, %s accepts any value.
func (l *library) format(L *lua.LState) int {
	text := checkString(L, 1)
	b := l.text(L, "format")
	for next := 1; ; vm.Work(L, 4) {
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
		if next++; next > L.GetTop() {
			vm.ArgError(L, next, "no value")
		}
		var c conversion
		text = l.conversion(L, &c, rest)
		b.write(c.format(L, next))
	}
	return vm.Push(L, lua.LString(b.String()))
}

// conversion is a parsed conversion.
type conversion struct {
	minus, plus, space, sharp, zero bool
	width, precision                int // precision is -1 where there is none
	verb                            byte
}

// conversion parses one, and returns the text after it.
func (l *library) conversion(L *lua.LState, c *conversion, text string) string {
	spec := text
	for text != "" && strings.IndexByte("-+ #0", text[0]) >= 0 {
		switch text[0] {
		case '-':
			c.minus = true
		case '+':
			c.plus = true
		case ' ':
			c.space = true
		case '#':
			c.sharp = true
		case '0':
			c.zero = true
		}
		text = text[1:]
	}
	if len(spec)-len(text) > len("-+ #0") {
		vm.RaiseText(L, "invalid format (repeated flags)")
	}
	c.width, text = l.digits(L, text)
	c.precision = -1
	if rest, ok := strings.CutPrefix(text, "."); ok {
		c.precision, text = l.digits(L, rest)
	}
	if text == "" {
		vm.RaiseText(L, "invalid option '%%' to 'format'")
	}
	c.verb = text[0]
	return text[1:]
}

// digits reads a width or a precision of up to two digits.
func (l *library) digits(L *lua.LState, text string) (n int, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	digits := text[:len(text)-len(rest)]
	if len(digits) > 2 {
		size, _ := strconv.ParseFloat(digits, 64)
		l.check(L, "format", size)
		vm.RaiseText(L, "invalid format (width or precision too long)")
	}
	n, _ = strconv.Atoi(digits)
	return n, rest
}

func (c *conversion) format(L *lua.LState, arg int) string {
	switch c.verb {
	case 'c':
		return c.pad("", string([]byte{byte(checkInt(L, arg))}), false)
	case 'd', 'i':
		n := checkLong(L, arg)
		magnitude := uint64(n)
		if n < 0 {
			magnitude = -magnitude
		}
		return c.pad(c.sign(n < 0), c.whole(strconv.FormatUint(magnitude, 10)), c.precision < 0)
	case 'u':
		return c.pad("", c.whole(strconv.FormatUint(unsigned(checkNumber(L, arg)), 10)), c.precision < 0)
	case 'o', 'x', 'X':
		return c.based(unsigned(checkNumber(L, arg)))
	case 'e', 'E', 'f', 'g', 'G':
		return c.float(checkNumber(L, arg))
	case 'q':
		text := checkString(L, arg)
		vm.Grow(L, 4*len(text))
		return luaQuoted(text)
	case 's':
		text, ok := number.TextOf(text51(L, L.Get(arg)))
		if !ok {
			vm.RaiseText(L, "'tostring' must return a string to 'format'")
		}
		if c.precision >= 0 {
			text = text[:min(c.precision, len(text))]
		}
		return c.pad("", text, false)
	}
	vm.RaiseText(L, "invalid option '%%%c' to 'format'", c.verb)
	return ""
}

// pad pads to the width; zeros go between prefix and body.
func (c *conversion) pad(prefix, body string, zeros bool) string {
	missing := c.width - len(prefix) - len(body)
	switch {
	case missing <= 0:
		return prefix + body
	case c.minus:
		return prefix + body + strings.Repeat(" ", missing)
	case c.zero && zeros:
		return prefix + strings.Repeat("0", missing) + body
	}
	return strings.Repeat(" ", missing) + prefix + body
}

func (c *conversion) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case c.plus:
		return "+"
	case c.space:
		return " "
	}
	return ""
}

// whole pads digits with zeros to the precision.
func (c *conversion) whole(digits string) string {
	if c.precision == 0 && digits == "0" {
		return ""
	}
	return strings.Repeat("0", max(c.precision-len(digits), 0)) + digits
}

// based formats a number in base 8 or 16.
func (c *conversion) based(n uint64) string {
	prefix, base := "0x", 16
	if c.verb == 'o' {
		prefix, base = "", 8
	}
	digits := c.whole(strconv.FormatUint(n, base))
	if c.verb == 'o' && c.sharp && !strings.HasPrefix(digits, "0") {
		digits = "0" + digits
	}
	if !c.sharp || n == 0 {
		prefix = ""
	}
	if c.verb == 'X' {
		prefix, digits = strings.ToUpper(prefix), strings.ToUpper(digits)
	}
	return c.pad(prefix, digits, c.precision < 0)
}

func (c *conversion) float(n float64) string {
	prefix := c.sign(math.Signbit(n))
	n = math.Abs(n)
	body := ""
	switch {
	case math.IsNaN(n):
		body = "nan"
	case math.IsInf(n, 0):
		body = "inf"
	}
	if body != "" {
		if c.verb < 'a' {
			body = strings.ToUpper(body)
		}
		return c.pad(prefix, body, false)
	}
	precision := c.precision
	if precision < 0 {
		precision = 6
	}
	if c.sharp {
		body = fmt.Sprintf("%#.*"+string(c.verb), precision, n)
	} else {
		body = strconv.FormatFloat(n, c.verb, precision, 64)
	}
	return c.pad(prefix, body, true)
}

// unsigned converts a number to an unsigned integer like C.
func unsigned(n float64) uint64 {
	const half = 1 << 63
	if n >= half {
		return uint64(integer(n-half)) ^ half
	}
	return uint64(integer(n))
}

// luaQuoted returns a string literal.
func luaQuoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`).Replace(text) + `"`
}
