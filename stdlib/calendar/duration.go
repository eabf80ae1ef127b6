package calendar

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"transect/client/fault"
)

// durationUnits in seconds, the largest first, as durations are written.
var durationUnits = []struct {
	name    string
	seconds float64
}{{"w", 7 * 86400}, {"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 1e-3}}

// ParseDuration reads a duration in seconds: 1h30m, 90s, 2d, 1.5h, 250ms, also with spaces and a
// minus in front; and the form of ISO 8601, PT1H30M.
func ParseDuration(text string) (float64, error) {
	rest := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	sign := 1.0
	if after, negative := strings.CutPrefix(rest, "-"); negative {
		sign, rest = -1, after
	}
	date := false // m is months before the T of ISO 8601
	if after, iso := strings.CutPrefix(rest, "p"); iso {
		var clock string
		rest, clock, _ = strings.Cut(after, "t")
		if strings.Contains(rest, "m") || strings.Contains(rest, "y") {
			return 0, fault.Hinted(fault.Of(&fault.ValueError{}, "%q has months or years, which are of different lengths", text), "add those with time.add")
		}
		date = clock == "" && strings.HasSuffix(after, "t")
		rest += clock
	}
	wrong := fault.Hinted(fault.Of(&fault.ValueError{}, "%q is no duration", text), "write it like 1h30m, 90s, 2d, 250ms or PT1H30M")
	if rest == "" || date {
		return 0, wrong
	}
	sum, last := 0.0, len(durationUnits)+1
	for rest != "" {
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end <= 0 {
			return 0, wrong
		}
		n, err := strconv.ParseFloat(rest[:end], 64)
		unit := rest[end:]
		if i := strings.IndexAny(unit, "0123456789."); i >= 0 {
			unit = unit[:i]
		}
		rest = rest[end+len(unit):]
		place := -1
		for i, u := range durationUnits {
			if u.name == unit {
				place = i
			}
		}
		if err != nil || place < 0 || last <= len(durationUnits) && place <= last {
			return 0, wrong // unknown, twice, or a larger one after a smaller
		}
		last = place
		sum += n * durationUnits[place].seconds
	}
	return sign * math.Round(sum*1e6) / 1e6, nil
}

// FormatDuration is the reverse of ParseDuration, without weeks: 1d2h, 1h30m, 1.5s.
func FormatDuration(seconds float64) string {
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
