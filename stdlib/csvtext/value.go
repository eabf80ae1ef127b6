package csvtext

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Types are what a column may hold.
var Types = []string{"string", "number", "integer", "boolean"}

// Value reads a field as a type: string, float64, json.Number for an integer of
// any size up to 64 bits, bool; nil for an empty field that is no text. ok is
// false when it is none. The decimals of numbers stand behind a sign of their
// own.
func Value(typ, field string, decimal byte) (v any, ok bool) {
	text := strings.TrimSpace(field)
	switch {
	case typ == "" || typ == "string":
		return field, true
	case text == "":
		return nil, true
	case typ == "number":
		if decimal != '.' {
			if strings.Contains(text, ".") {
				return nil, false
			}
			text = strings.Replace(text, string(rune(decimal)), ".", 1)
		}
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	case typ == "integer":
		n, err := strconv.ParseInt(text, 10, 64)
		return json.Number(strconv.FormatInt(n, 10)), err == nil
	}
	switch strings.ToLower(text) {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0":
		return false, true
	}
	return nil, false
}
