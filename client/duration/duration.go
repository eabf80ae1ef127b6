// Package duration parses and formats lengths of time as users write them, such as 1h30m.
package duration

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client/fault"
)

// durationUnits are the units in seconds, in the order of a written duration.
var durationUnits = []struct {
	name    string
	seconds float64
}{{"w", 7 * 86400}, {"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 1e-3}}

// durationForm has a group for the number of each unit.
var durationForm = sync.OnceValue(func() *regexp.Regexp {
	form := ""
	for _, u := range durationUnits {
		form += `(?:(\d*\.?\d+)` + u.name + `)?`
	}
	return regexp.MustCompile("^" + form + "$")
})

// Seconds parses a duration in seconds: 1h30m, 90s, 2d, 1.5h, 250ms, also with spaces and a
// leading minus; and the form of ISO 8601, PT1H30M.
func Seconds(text string) (float64, error) {
	rest, negative := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), " ", "")), "-")
	rest, iso := strings.CutPrefix(rest, "p")
	if iso {
		date, clock, t := strings.Cut(rest, "t")
		if strings.ContainsAny(date, "my") {
			return 0, fault.Hinted(fault.Of(&fault.ValueError{}, "%q has months or years, which are of different lengths",
				text), "add those with time.add")
		}
		if rest = date + clock; t && clock == "" {
			rest = "t"
		}
	}
	found := durationForm().FindStringSubmatch(rest)
	if found == nil || rest == "" {
		return 0, fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not a duration", text),
			"write it like 1h30m, 90s, 2d, 250ms or PT1H30M")
	}
	sum := 0.0
	for i, u := range durationUnits {
		n, _ := strconv.ParseFloat(found[i+1], 64) // 0 for an absent unit
		sum += n * u.seconds
	}
	if negative {
		sum = -sum
	}
	return math.Round(sum*1e6) / 1e6, nil
}

// Parse parses a length of time entered by a user: like Seconds, but not negative.
func Parse(text string) (time.Duration, error) {
	if strings.TrimSpace(text) == "0" {
		return 0, nil
	}
	seconds, err := Seconds(text)
	switch {
	case err != nil:
		return 0, errors.New("write it with its unit, such as 90s, 5m, 1h30m or 7d")
	case seconds < 0:
		return 0, errors.New("it must not be negative")
	case seconds > math.MaxInt64/1e9:
		return 0, errors.New("it is longer than 292 years")
	}
	return time.Duration(math.Round(seconds * 1e9)), nil
}

// Format inverts Seconds, without weeks: 1d2h, 1h30m, 1.5s.
func Format(seconds float64) string {
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	millis := math.Round(seconds * 1000)
	if millis == 0 {
		return "0s"
	}
	if millis < 1000 {
		return sign + strconv.FormatFloat(millis, 'f', 0, 64) + "ms"
	}
	var b strings.Builder
	left := millis / 1000
	for _, u := range durationUnits[1:4] {
		if n := math.Floor(left / u.seconds); n > 0 {
			fmt.Fprintf(&b, "%.0f%s", n, u.name)
			left = math.Round((left-n*u.seconds)*1000) / 1000
		}
	}
	if left > 0 {
		b.WriteString(strconv.FormatFloat(left, 'f', -1, 64) + "s")
	}
	return sign + b.String()
}
