package imagery

import (
	"cmp"
	"strings"
)

// naturalLess orders names as people do: letters without regard to case,
// numbers by value, so that DJI_2 comes before DJI_10.
func naturalLess(a, b string) bool {
	if c := naturalCompare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
		return c < 0
	}
	return a < b
}

func naturalCompare(a, b string) int {
	for a != "" && b != "" {
		numberA, restA := cutDigits(a)
		numberB, restB := cutDigits(b)
		if numberA != "" && numberB != "" {
			valueA, valueB := strings.TrimLeft(numberA, "0"), strings.TrimLeft(numberB, "0")
			// Of two numbers without leading zeros the longer is the greater.
			if c := cmp.Or(cmp.Compare(len(valueA), len(valueB)), cmp.Compare(valueA, valueB)); c != 0 {
				return c
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func cutDigits(s string) (digits, rest string) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	return s[:end], s[end:]
}
