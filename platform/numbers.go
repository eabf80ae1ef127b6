package platform

import (
	"encoding/json"
	"fmt"
	"math"
)

// number reads a number between two bounds that must be there.
func (a *args) number(key string, from, to float64) float64 {
	if !a.need(key) {
		return 0
	}
	n, ok := asNumber(a.doc[key])
	switch {
	case !ok:
		a.wrong(key, "must be a number")
	case n < from || n > to:
		a.wrong(key, "must be %s, not %v", between(from, to), n)
	}
	return n
}

// numbers reads a list of numbers between two bounds that must be there.
func (a *args) numbers(key string, from, to float64) []float64 {
	var all []float64
	for i, v := range a.list(key) {
		n, ok := asNumber(v)
		switch {
		case !ok:
			a.wrong(key, "element %d must be a number", i)
		case n < from || n > to:
			a.wrong(key, "element %d must be %s, not %v", i, between(from, to), n)
		}
		all = append(all, n)
	}
	return all
}

func asNumber(v any) (float64, bool) {
	text, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := text.Float64()
	return n, err == nil
}

func between(from, to float64) string {
	if math.IsInf(to, 1) {
		return fmt.Sprintf("%v or more", from)
	}
	return fmt.Sprintf("between %v and %v", from, to)
}
