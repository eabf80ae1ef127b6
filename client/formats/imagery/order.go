package imagery

import (
	"cmp"
	"strings"
)

// NaturalCompare compares names in natural order: ASCII letters ignoring case, numbers by value, so
// that DJI_2 precedes DJI_10. It returns 0 only for equal names, and does not allocate.
func NaturalCompare(a, b string) int {
	restA, restB, c := naturalSplit(a, b)
	return cmp.Or(c, cmp.Compare(len(restA), len(restB)), strings.Compare(a, b))
}

// ComparePrefix compares name with prefix in natural order. It returns 0 for every name that starts
// with prefix, ignoring case and leading zeros. Names sorted by NaturalCompare are sorted by it,
// too, if prefix does not end with a digit.
func ComparePrefix(name, prefix string) int {
	_, rest, c := naturalSplit(name, prefix)
	if c == 0 && rest != "" {
		return -1
	}
	return c
}

// naturalSplit compares until one of the names ends, and returns the rest of both.
func naturalSplit(a, b string) (restA, restB string, c int) {
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			var numberA, numberB string
			numberA, a = cutDigits(a)
			numberB, b = cutDigits(b)
			valueA, valueB := strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
			// Without leading zeros, the longer number is greater.
			if c := cmp.Or(cmp.Compare(len(valueA), len(valueB)), cmp.Compare(valueA, valueB)); c != 0 {
				return a, b, c
			}
			continue
		}
		if x, y := lower(a[0]), lower(b[0]); x != y {
			return a, b, cmp.Compare(x, y)
		}
		a, b = a[1:], b[1:]
	}
	return a, b, 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func cutDigits(s string) (digits, rest string) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return s[:end], s[end:]
}
