package calendar

import (
	"errors"
	"strings"
	"time"

	"transect/client/duration"
)

// Direction is the direction of times relative to now.
type Direction int

const (
	Past   Direction = -1 // 2h is two hours ago, 06:00 the last one
	Future Direction = 1  // 2h is two hours from now, 06:00 the next one
)

// Moment parses a point in time entered by a user, in the zone of now: a date, a date with a time,
// a time of day, today, yesterday, tomorrow, now, or a duration.
func Moment(text string, now time.Time, direction Direction) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "now":
		return now, nil
	case "today":
		return StartOf(now, "day"), nil
	case "yesterday":
		return Step{Days: -1}.From(StartOf(now, "day"), 1)
	case "tomorrow":
		return Step{Days: 1}.From(StartOf(now, "day"), 1)
	}
	if clock, err := time.Parse("15:04", text); err == nil {
		at := func(days int) time.Time {
			return Wall(time.Date(now.Year(), now.Month(), now.Day()+days, clock.Hour(), clock.Minute(), 0, 0, time.UTC),
				now.Location())
		}
		switch today := at(0); {
		case direction == Past && today.After(now):
			return at(-1), nil
		case direction == Future && !today.After(now):
			return at(1), nil
		default:
			return today, nil
		}
	}
	if t, err := Parse(text, now.Location()); err == nil {
		return t, nil
	}
	if strings.TrimLeft(text, "0123456789") != "" { // digits alone are a date like 20261120
		if d, err := duration.Parse(strings.TrimSuffix(text, " ago")); err == nil {
			if strings.HasSuffix(text, " ago") {
				direction = Past
			}
			if whole := d / (24 * time.Hour); d%(24*time.Hour) == 0 && !strings.ContainsAny(text, "hm") {
				return Step{Days: int(direction)}.From(now, int(whole)) // days keep the time of day
			}
			return now.Add(time.Duration(direction) * d), nil
		}
	}
	if direction == Future {
		return time.Time{},
			errors.New("write a time such as 02:30, 2026-11-23T02:30 or tomorrow, or how long from now, such as 90m")
	}
	return time.Time{},
		errors.New("write a date such as 2026-11-20 or 2026-11-20T06:00, yesterday, or how long ago, such as 12h or 7d")
}

// Day parses a date entered by a user, and returns its midnight in the zone of now.
func Day(text string, now time.Time) (time.Time, error) {
	t, err := Moment(text, now, Past)
	if err != nil {
		return t, errors.New("write a date such as 2026-11-20, yesterday, or how many days ago, such as 7d")
	}
	return StartOf(t.In(now.Location()), "day"), nil
}
