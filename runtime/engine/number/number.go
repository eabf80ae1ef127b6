// Package number reads, writes and computes numbers as Lua 5.1 does, which leaves it to C.
package number

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Text returns a number as Lua 5.1 writes it: %.14g.
func Text(n lua.LNumber) string {
	x := float64(n)
	switch {
	case x == math.Trunc(x) && math.Abs(x) < 1e14 && (x != 0 || !math.Signbit(x)):
		return strconv.FormatInt(int64(x), 10)
	case math.IsNaN(x) && math.Signbit(x):
		return "-nan" // what 0/0 is on x86
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', 14, 64)
}

// blanks are the characters that C calls space.
const blanks = " \t\n\v\f\r"

// Parse reads a number as Lua 5.1 does, which is as C's strtod does: decimal
// or hexadecimal, with fraction and exponent, "inf" or "nan", blanks around it. A
// zero byte ends the text.
func Parse(text string) (lua.LNumber, bool) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	text = strings.Trim(text, blanks)
	unsigned := strings.TrimLeft(text, "+-")
	if len(text)-len(unsigned) > 1 || unsigned == "" {
		return 0, false
	}
	sign := lua.LNumber(1)
	if text[0] == '-' {
		sign = -1
	}
	if c := unsigned[0]; c != '.' && (c < '0' || c > '9') {
		n, ok := parseName(strings.ToLower(unsigned))
		return lua.LNumber(math.Copysign(float64(n), float64(sign))), ok
	}
	if len(unsigned) > 1 && unsigned[0] == '0' && unsigned[1]|0x20 == 'x' {
		n, ok := parseHex(unsigned)
		return sign * n, ok
	}
	if len(unsigned) <= 15 {
		if n, ok := parseDigits(unsigned); ok {
			return sign * n, true
		}
	}
	if strings.Trim(unsigned, "0123456789.eE+-") != "" {
		return 0, false // ParseFloat takes more
	}
	return parseFloat(text)
}

// parseDigits reads up to 15 decimal digits.
func parseDigits(text string) (lua.LNumber, bool) {
	n := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = 10*n + int(text[i]-'0')
	}
	return lua.LNumber(n), true
}

func parseName(name string) (lua.LNumber, bool) {
	switch {
	case name == "inf" || name == "infinity":
		return lua.LNumber(math.Inf(1)), true
	case name == "nan":
		return lua.LNumber(math.NaN()), true
	case strings.HasPrefix(name, "nan(") && strings.HasSuffix(name, ")"):
		digits := name[4 : len(name)-1]
		return lua.LNumber(math.NaN()), strings.Trim(digits, "0123456789abcdefghijklmnopqrstuvwxyz_") == ""
	}
	return 0, false
}

// parseHex reads "0x" and what follows.
func parseHex(text string) (lua.LNumber, bool) {
	mantissa, exponent := text[2:], "p0"
	if i := strings.IndexAny(mantissa, "pP"); i >= 0 {
		mantissa, exponent = mantissa[:i], mantissa[i:]
	}
	if strings.Trim(mantissa, "0123456789abcdefABCDEF.") != "" || strings.Trim(exponent[1:], "0123456789+-") != "" {
		return 0, false
	}
	return parseFloat("0x" + mantissa + exponent)
}

func parseFloat(text string) (lua.LNumber, bool) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(x, 0) { // too large is infinite
		return 0, false
	}
	return lua.LNumber(x), true
}

// ParseBase parses a whole number like C's strtoul, except that it does not add negative ones to 2^64.
func ParseBase(text string, base int) (lua.LNumber, bool) {
	text, _, _ = strings.Cut(text, "\x00")
	text = strings.Trim(text, blanks)
	digits, negative := strings.CutPrefix(text, "-")
	if !negative {
		digits = strings.TrimPrefix(text, "+")
	}
	if base == 16 && len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		digits = digits[2:]
	}
	if digits == "" {
		return 0, false
	}
	const all = "0123456789abcdefghijklmnopqrstuvwxyz"
	if digits = strings.ToLower(digits); strings.Trim(digits, all[:base]) != "" {
		return 0, false
	}
	n, _ := strconv.ParseUint(digits, base, 64) // the largest value when out of range
	if negative {
		return -lua.LNumber(n), true
	}
	return lua.LNumber(n), true
}

// TextOf returns a text, or a number as a text.
func TextOf(v lua.LValue) (text string, ok bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return Text(v), true
	}
	return "", false
}

// Of returns a number, or a text that reads as one as a number.
func Of(v lua.LValue) (lua.LNumber, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return v, true
	case lua.LString:
		return Parse(string(v))
	}
	return 0, false
}

// Modulo returns a - floor(a/b)*b, as Lua 5.1 computes it.
func Modulo(a, b lua.LNumber) lua.LNumber {
	x, y := float64(a), float64(b)
	p := float64(math.Floor(x/y) * y) // rounded: no fused multiplication
	return lua.LNumber(x - p)
}

// Power returns what C does, which keeps an operand that is not a number, with its sign.
func Power(a, b lua.LNumber) lua.LNumber {
	v := math.Pow(float64(a), float64(b))
	if v != v {
		v = NaN(float64(a), float64(b))
	}
	return lua.LNumber(v)
}

// NaN returns the same NaN as x86: the operand that is one, or the one with the sign.
func NaN(operands ...float64) float64 {
	for _, n := range operands {
		if math.IsNaN(n) {
			return n
		}
	}
	return math.Copysign(math.NaN(), -1)
}
