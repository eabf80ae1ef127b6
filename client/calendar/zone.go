// Package calendar parses, formats and steps through times: strftime layouts, zones by name, ISO
// weeks, durations. The Lua module time uses it. Begin reading at Zone, Format and Read.
//
// Layouts are implemented here because the strftime libraries for Go only format, or parse fewer
// directives than they format.
package calendar

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // for systems without a zone database

	"transect/client/fault"
	"transect/client/suggest"
)

// The range of years for formatting and parsing.
const (
	firstSecond = -62135596800 // 0001-01-01
	lastSecond  = 253402300800 // 10000-01-01
)

// Zone returns a time zone by its name: UTC, local, an offset such as +02:00, or a name such as
// Europe/Berlin. The local one is from the variable TZ in env, or else the system's.
func Zone(name string, env func(string) (string, bool)) (*time.Location, error) {
	switch name {
	case "", "UTC", "Z":
		return time.UTC, nil
	case "local":
		if text, given := env("TZ"); given && text != "" && text != "Local" {
			if loc, err := time.LoadLocation(strings.TrimPrefix(text, ":")); err == nil {
				return loc, nil
			}
		}
		return time.Local, nil
	}
	if seconds, rest, ok := readOffset(name); ok && rest == "" {
		return offsetZone(seconds), nil
	}
	loc, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fault.Hinted(fault.Of(&fault.ParameterError{}, "%q is not a time zone%s", name,
			suggest.Suffix(name, someZones())),
			"write a name such as Europe/Berlin, an offset such as +02:00, UTC or local")
	}
	return loc, nil
}

// someZones are names for suggesting corrections. There is no list of all zones: these are the large cities of each
// region.
var someZones = sync.OnceValue(func() []string {
	return strings.Fields(`
		Europe/London Europe/Paris Europe/Berlin Europe/Amsterdam Europe/Brussels Europe/Madrid Europe/Rome
		Europe/Vienna Europe/Warsaw Europe/Athens Europe/Helsinki Europe/Kyiv Europe/Moscow Europe/Lisbon
		Europe/Zurich Europe/Copenhagen Europe/Stockholm Europe/Oslo Africa/Abidjan Africa/Cairo Africa/Johannesburg
		Africa/Lagos Africa/Nairobi Asia/Bangkok Asia/Dubai Asia/Jakarta Asia/Kolkata Asia/Manila Asia/Seoul
		Asia/Shanghai Asia/Singapore Asia/Tokyo Australia/Brisbane Australia/Perth Australia/Sydney Pacific/Auckland
		America/Chicago America/Denver America/Los_Angeles America/New_York America/Toronto America/Mexico_City
		America/Bogota America/Lima America/Sao_Paulo America/Argentina/Buenos_Aires America/Santiago
		America/Anchorage Pacific/Honolulu`)
})

// offsetZone returns the zone with a constant offset in seconds east of Greenwich.
func offsetZone(seconds int) *time.Location {
	if seconds == 0 {
		return time.UTC
	}
	return time.FixedZone("", seconds)
}

// readOffset consumes an offset such as Z, +02:00, -0930 or +02.
func readOffset(text string) (seconds int, rest string, ok bool) {
	if after, found := strings.CutPrefix(text, "Z"); found {
		return 0, after, true
	}
	found := offsetForm().FindStringSubmatch(text)
	if found == nil {
		return 0, text, false
	}
	hours, _ := strconv.Atoi(found[2])
	minutes, _ := strconv.Atoi(found[3]) // 0 when absent
	if seconds = hours*3600 + minutes*60; found[1] == "-" {
		seconds = -seconds
	}
	return seconds, text[len(found[0]):], true
}

var offsetForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?`) })

// digits consumes a number of least to most digits.
func digits(text string, least, most int) (n int, rest string, ok bool) {
	i := 0
	for i < len(text) && i < most && text[i] >= '0' && text[i] <= '9' {
		n = n*10 + int(text[i]-'0')
		i++
	}
	return n, text[i:], i >= least
}

// Wall returns the moment at which clocks of a zone show t's date and time. A skipped time
// continues from the last one before the gap; of a repeated time it returns the first.
func Wall(t time.Time, loc *time.Location) time.Time {
	shown := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	offset := func(at time.Time) time.Duration {
		_, seconds := at.In(loc).Zone()
		return time.Duration(seconds) * time.Second
	}
	guess := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), loc)
	start, end := guess.ZoneBounds()
	for _, change := range []time.Time{start, end} {
		if change.IsZero() {
			continue
		}
		before, after := offset(change.Add(-time.Second)), offset(change)
		if from, to := change.UTC().Add(before), change.UTC().Add(after); before < after && !shown.Before(from) &&
			shown.Before(to) {
			return shown.Add(-before).In(loc) // skipped
		} else if after < before && !shown.Before(to) && shown.Before(from) {
			return shown.Add(-before).In(loc) // repeated
		}
	}
	return guess
}

// ErrYears is the reason for refusing a time.
var ErrYears = errors.New("outside of the years 1 to 9999")

// FromSeconds returns the time so many seconds after the start of 1970, to the millisecond, or ErrYears.
func FromSeconds(n float64) (time.Time, error) {
	if !(n >= firstSecond && n < lastSecond) {
		return time.Time{}, ErrYears
	}
	return time.UnixMilli(int64(math.Floor(n*1000 + 0.5))).UTC(), nil
}

// InYears refuses a time outside the years 1 to 9999.
func InYears(t time.Time) error {
	if s := t.Unix(); s < firstSecond || s >= lastSecond {
		return fault.Of(&fault.ValueError{}, "the time is %w", ErrYears)
	}
	return nil
}

// Since1970 returns a time in seconds, to the millisecond where that is exact.
func Since1970(t time.Time) float64 {
	if t.Nanosecond()%1e6 == 0 {
		return float64(t.UnixMilli()) / 1000
	}
	return float64(t.UnixMicro()) / 1e6
}

// isoTimes are the time formats accepted without a layout.
var isoTimes = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04",
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", time.DateOnly,
	"20060102T150405Z0700", "20060102T150405", "20060102"}

// Parse parses a time in ISO 8601; loc is the zone of a time without one.
func Parse(text string, loc *time.Location) (time.Time, error) {
	for _, layout := range isoTimes {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if !strings.Contains(layout, "07") {
			t = Wall(t, loc)
		}
		return t, InYears(t)
	}
	return time.Time{}, fault.Hinted(fault.Of(&fault.ValueError{}, "%q is not an ISO 8601 time%s", text, nearTime(text)),
		"write times like 2024-05-01T10:00:00Z, or say how it is written with a layout such as %%d.%%m.%%Y")
}

// nearTime describes the error in a text that is nearly a time.
func nearTime(text string) string {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		var e *time.ParseError
		if _, err := time.Parse(layout, text); errors.As(err, &e) && strings.Contains(e.Message, "out of range") {
			return e.Message // e.g. ": day out of range"
		}
	}
	return ""
}
