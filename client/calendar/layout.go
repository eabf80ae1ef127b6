package calendar

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/fault"
)

// layouts are the named layouts.
var layouts = map[string]string{"datetime": "%Y-%m-%dT%H:%M:%S.%L%:z", "date": "%Y-%m-%d",
	"compact": "%Y%m%dT%H%M%S%z", "week": "%G-W%V"}

// LayoutDoc documents the syntax of layouts.
const LayoutDoc = "datetime, date, compact or week; or as strftime writes it, with %Y %m %d %H %M %S, %L " +
	"(milliseconds), %y %e %j %I %p, %a %A %b %B (English), " +
	"%G %V %u (ISO year, week, weekday), %w %s, %z (+0200) and %:z (+02:00), both Z in UTC, %Z (CEST), %F %T %R, %%"

// A directive of a layout, e.g. %d.
var (
	shortcuts = map[string]string{"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "n": "\n", "t": "\t"}
	goLayouts = map[string]string{"a": "Mon", "A": "Monday", "b": "Jan", "h": "Jan", "B": "January", "p": "PM",
		"z": "Z0700", ":z": "Z07:00", "Z": "MST",
		"Y": "2006", "m": "01", "d": "02", "H": "15", "M": "04", "S": "05", "y": "06", "e": "_2", "j": "002", "I": "03"}
)

const plainDirectives = "YmdHMSLyejIpaAbhBGVuwszZ%"

// eachDirective splits a layout into literal text and directives, in order.
func eachDirective(layout string, literal func(string) error, directive func(string) error) error {
	if named, ok := layouts[layout]; ok {
		layout = named
	}
	for layout != "" {
		before, after, found := strings.Cut(layout, "%")
		if before != "" {
			if err := literal(before); err != nil {
				return err
			}
		}
		if !found {
			return nil
		}
		name := after[:min(1, len(after))]
		if name == ":" {
			name = after[:min(2, len(after))]
		}
		layout = after[len(name):]
		if long, ok := shortcuts[name]; ok {
			layout = long + layout
			continue
		}
		if name == "" || name != ":z" && (len(name) > 1 || !strings.Contains(plainDirectives, name)) {
			return fault.Hinted(fault.Of(&fault.ParameterError{}, "argument layout: %%%s is not known", name), "%s", LayoutDoc)
		}
		if name == "%" {
			if err := literal("%"); err != nil {
				return err
			}
			continue
		}
		if err := directive(name); err != nil {
			return err
		}
	}
	return nil
}

// Format formats a time by a layout: a named one, or directives like strftime's.
func Format(t time.Time, layout string) (string, error) {
	var b strings.Builder
	add := func(text string) error { b.WriteString(text); return nil }
	year, week := t.ISOWeek()
	err := eachDirective(layout, add, func(d string) error {
		if form, ok := goLayouts[d]; ok {
			return add(t.Format(form))
		}
		number := map[string]struct{ width, value int }{
			"L": {3, t.Nanosecond() / 1e6}, "G": {4, year}, "V": {2, week}, "u": {1, Weekday(t)}, "w": {1, int(t.Weekday())},
			"s": {1, int(t.Unix())},
		}
		return add(fmt.Sprintf("%0*d", number[d].width, number[d].value))
	})
	return b.String(), err
}

// Weekday returns 1 for Monday to 7 for Sunday.
func Weekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// widths are the minimum and maximum digits of the numbers parsed.
var widths = map[string][2]int{"Y": {4, 4}, "m": {1, 2}, "d": {1, 2}, "e": {1, 2}, "H": {1, 2}, "M": {2, 2},
	"S": {2, 2}, "L": {1, 3}, "y": {2, 2}, "j": {1, 3},
	"I": {1, 2}, "G": {4, 4}, "V": {1, 2}, "u": {1, 1}, "w": {1, 1}, "s": {1, 12}}

// Read parses a text by a layout; loc is the zone of a time without one. Fields missing from the
// layout default to their first value: midnight, January 1.
func Read(text, layout string, loc *time.Location) (time.Time, error) {
	r := timeReader{rest: text, whole: text, layout: layout, found: map[string]int{}}
	if err := eachDirective(layout, r.literal, r.directive); err != nil {
		return time.Time{}, err
	}
	if r.rest != "" {
		return time.Time{}, r.wrong("has %q more than the layout", r.rest)
	}
	return r.time(loc)
}

// timeReader parses a text by a layout.
type timeReader struct {
	rest, whole, layout string
	found               map[string]int
	offset              *int
}

func (r *timeReader) wrong(format string, args ...any) *fault.ValueError {
	return fault.Of(&fault.ValueError{}, "%q does not follow the layout %q: it "+format,
		append([]any{r.whole, r.layout}, args...)...)
}

func (r *timeReader) literal(text string) error {
	rest, ok := strings.CutPrefix(r.rest, text)
	if !ok {
		return r.wrong("should have %q before %q", text, r.rest)
	}
	r.rest = rest
	return nil
}

func (r *timeReader) directive(d string) error {
	switch d {
	case "z", ":z":
		seconds, rest, ok := readOffset(r.rest)
		if !ok {
			return r.wrong("should have an offset such as +02:00 at %q", r.rest)
		}
		r.offset, r.rest = &seconds, rest
		return nil
	case "Z":
		for _, name := range []string{"UTC", "GMT", "Z"} {
			if rest, ok := strings.CutPrefix(r.rest, name); ok {
				r.offset, r.rest = new(int), rest
				return nil
			}
		}
		return fault.Hinted(r.wrong("has a zone that is not UTC at %q", r.rest),
			"short names of zones mean different places; pass the option zone")
	case "a", "A":
		_, err := r.name(d, weekdays)
		return err
	case "b", "B", "h":
		n, err := r.name(d, months)
		r.found["m"] = n
		return err
	case "p":
		n, err := r.name(d, []string{"AM", "PM"})
		r.found["p"] = n
		return err
	}
	if d == "e" {
		r.rest, d = strings.TrimLeft(r.rest, " "), "d"
	}
	negative := false
	if d == "s" {
		r.rest, negative = strings.CutPrefix(r.rest, "-")
	}
	n, rest, ok := digits(r.rest, widths[d][0], widths[d][1])
	if !ok {
		return r.wrong("should have the digits of %%%s at %q", d, r.rest)
	}
	if d == "L" { // .5 is 500 milliseconds
		for range 3 - (len(r.rest) - len(rest)) {
			n *= 10
		}
	}
	if negative {
		n = -n
	}
	r.found[d], r.rest = n, rest
	return nil
}

var (
	weekdays = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	months   = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
		"November", "December"}
)

// name consumes one of the names, complete or its first three letters, and returns its number from 1.
func (r *timeReader) name(d string, names []string) (int, error) {
	for _, length := range []int{9, 3} {
		for i, name := range names {
			name = name[:min(length, len(name))]
			if len(r.rest) >= len(name) && strings.EqualFold(r.rest[:len(name)], name) {
				r.rest = r.rest[len(name):]
				return i + 1, nil
			}
		}
	}
	return 0, r.wrong("should have the name of %%%s at %q", d, r.rest)
}

func (r *timeReader) time(loc *time.Location) (time.Time, error) {
	if s, given := r.found["s"]; given {
		t := time.Unix(int64(s), int64(r.found["L"])*1e6).UTC()
		return t, InYears(t)
	}
	get := func(d string, otherwise int) int {
		if n, given := r.found[d]; given {
			return n
		}
		return otherwise
	}
	hour := get("H", 0)
	if n, given := r.found["I"]; given {
		if n < 1 || n > 12 {
			return time.Time{}, r.wrong("has the hour %d of 12", n)
		}
		hour = n % 12
		if r.found["p"] == 2 {
			hour += 12
		}
	}
	minute, second := get("M", 0), get("S", 0)
	if hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, r.wrong("has no time of a day: %02d:%02d:%02d", hour, minute, second)
	}
	day, err := r.day(get)
	if err != nil {
		return time.Time{}, err
	}
	t := day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second +
		time.Duration(r.found["L"])*time.Millisecond)
	if r.offset != nil {
		return t.Add(-time.Duration(*r.offset) * time.Second).In(offsetZone(*r.offset)), nil
	}
	return Wall(t, loc), nil
}

// day returns the parsed date, at midnight UTC.
func (r *timeReader) day(get func(string, int) int) (time.Time, error) {
	year := get("Y", 1970)
	if n, given := r.found["y"]; given {
		if year = 2000 + n; n >= 69 { // like POSIX
			year = 1900 + n
		}
	}
	_, ofWeeks := r.found["G"]
	if _, given := r.found["V"]; given || ofWeeks {
		return WeekDate(get("G", year), get("V", 1), get("u", 1))
	}
	if n, given := r.found["j"]; given {
		day := time.Date(year, 1, n, 0, 0, 0, 0, time.UTC)
		if n < 1 || day.Year() != year {
			return day, fault.Of(&fault.ValueError{}, "%d has no day %d", year, n)
		}
		return day, InYears(day)
	}
	return Date(year, get("m", 1), get("d", 1))
}

// Date returns a date at midnight UTC, or an error if it does not exist.
func Date(year, month, day int) (time.Time, error) {
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if year < 1 || year > 9999 || t.Month() != time.Month(month) || t.Day() != day {
		return t, fault.Of(&fault.ValueError{}, "there is no %04d-%02d-%02d", year, month, day)
	}
	return t, nil
}

// WeekDate returns a weekday (1 is Monday) of an ISO 8601 week, at midnight UTC. Week 1 is the one
// with January 4.
func WeekDate(year, week, weekday int) (time.Time, error) {
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	day := fourth.AddDate(0, 0, (week-1)*7+weekday-Weekday(fourth))
	y, w := day.ISOWeek()
	if year < 1 || year > 9999 || weekday < 1 || weekday > 7 || y != year || w != week {
		return day, fault.Of(&fault.ValueError{}, "there is no %04d-W%02d-%d", year, week, weekday)
	}
	return day, InYears(day)
}

// CheckLayout refuses a text that is not a named layout and has no directive: most likely a
// misspelt name.
func CheckLayout(layout string) error {
	if _, named := layouts[layout]; named || strings.Contains(layout, "%") || layout == "" {
		return nil
	}
	names := slices.Sorted(maps.Keys(layouts))
	return fault.Hinted(fault.Of(&fault.ParameterError{},
		"argument layout must be one of %s, or have directives, got %s", strings.Join(names, ", "), strconv.Quote(layout)),
		"such as %s", "%d.%m.%Y")
}
