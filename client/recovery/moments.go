package recovery

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// writtenMoment is a moment as a text or a number holds it.
type writtenMoment struct {
	at        time.Time
	precision time.Duration
}

// is reports whether a moment is t to the precision it is written with.
func (m writtenMoment) is(t time.Time) bool {
	return m.at.Truncate(m.precision).Equal(t.Truncate(m.precision))
}

// present bounds how far a present moment is from now: the script took it a while
// ago, or rounded it.
const present = 2 * time.Minute

// presentMoment finds the present moment in a value: a date with a time, whatever
// stands between its digits, or the seconds or milliseconds since 1970.
func presentMoment(v any, now time.Time) (writtenMoment, bool) {
	text := textOf(v)
	if !strings.Contains(text, strconv.Itoa(now.Year())) && !strings.Contains(text, strconv.Itoa(now.UTC().Year())) &&
		!strings.Contains(text, strconv.FormatInt(now.Unix()/10_000, 10)) && !strings.Contains(text, strconv.FormatInt(now.Unix()/10_000-1, 10)) {
		return writtenMoment{}, false // nearly always
	}
	for _, m := range moments(text) {
		if d := now.Sub(m.at); -present <= d && d <= present {
			return m, true
		}
	}
	return writtenMoment{}, false
}

func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return string(v)
	}
	return ""
}

var (
	calendarForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(20\d\d)[-./_]?([01]\d)[-./_]?([0-3]\d)[T _-]{0,3}([0-2]\d)[-:.h_]?([0-5]\d)(?:[-:.m_]?([0-5]\d))?`)
	})
	zoneForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[.,]\d+)?(Z|[+-]\d\d:?\d\d)`) })
	epochForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\D)([1-4]\d{9})(\d{3})?(?:\D|$)`) })
)

// moments are the moments that a text may hold. A date with a time that names no
// zone is one in UTC and one here.
func moments(text string) (list []writtenMoment) {
	for _, at := range calendarForm().FindAllStringSubmatchIndex(text, -1) {
		part := func(n int) int {
			if at[2*n] < 0 {
				return 0
			}
			i, _ := strconv.Atoi(text[at[2*n]:at[2*n+1]]) // digits
			return i
		}
		precision := time.Second
		if at[12] < 0 {
			precision = time.Minute
		}
		zones := []*time.Location{time.UTC, time.Local}
		if zone := zoneForm().FindStringSubmatch(text[at[1]:]); zone != nil {
			zones = zones[:1]
			if offset, err := time.Parse("-0700", strings.ReplaceAll(zone[1], ":", "")); err == nil {
				_, seconds := offset.Zone()
				zones[0] = time.FixedZone("", seconds)
			}
		}
		for _, zone := range zones {
			list = append(list, writtenMoment{time.Date(part(1), time.Month(part(2)), part(3), part(4), part(5), part(6), 0, zone), precision})
		}
	}
	for _, digits := range epochForm().FindAllStringSubmatch(text, -1) {
		seconds, _ := strconv.ParseInt(digits[1], 10, 64)
		millis, _ := strconv.ParseInt("0"+digits[2], 10, 64)
		m := writtenMoment{time.UnixMilli(seconds*1000 + millis), time.Second}
		if digits[2] != "" {
			m.precision = time.Millisecond
		}
		list = append(list, m)
	}
	return list
}

var (
	identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[0-9a-f]{24}\b`) })
	randomForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-|[0-9a-f]{12,}|\d{5,}`)
	})
	pathForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:/|[A-Za-z]:[/\\]|\\\\|\.\.?[/\\]).`) })
)

// today reports whether a text holds the date of today, here or in UTC.
func today(text string) bool {
	now := time.Now()
	for _, form := range []string{"2006-01-02", "20060102", "2006_01_02", "2006.01.02", "02.01.2006", "2 Jan 2006"} {
		if strings.Contains(text, now.Format(form)) || strings.Contains(text, now.UTC().Format(form)) {
			return true
		}
	}
	return false
}

// varies reports whether a value looks as if it were made of the clock, by chance,
// or of a place on this machine. Identifiers do not: they name other things.
func varies(v any) bool {
	text := identifier().ReplaceAllString(textOf(v), "")
	if text == "" {
		return false
	}
	if len(moments(text)) > 0 || pathForm().MatchString(text) || today(text) {
		return true
	}
	_, number := v.(json.Number)
	return !number && randomForm().MatchString(text)
}
