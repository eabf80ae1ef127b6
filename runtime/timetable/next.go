package timetable

import (
	"slices"
	"time"
)

// horizon limits the search, in days: two leap days can be eight years apart, and callers request three
// times.
const horizon = 25 * 366

// Next returns the next n times after t, in t's time zone. When clocks are set it follows cron: a job at a
// fixed time within the skipped hour runs when the hour is skipped, one in the repeated hour runs once; a job
// with * for minute or hour follows the clock.
func (e *Expression) Next(t time.Time, n int) []time.Time {
	if e.Reboot {
		return nil
	}
	var times []time.Time
	year, month, day := t.Date()
	for ahead := -1; ahead < horizon && len(times) < n; ahead++ {
		noon := time.Date(year, month, day+ahead, 12, 0, 0, 0, time.UTC)
		if !e.onDay(noon) {
			continue
		}
		on := e.fixed
		if e.wildcardTime {
			on = e.matching
		}
		for _, at := range on(noon, t.Location()) {
			if at.After(t) && len(times) < n && (len(times) == 0 || at.After(times[len(times)-1])) {
				times = append(times, at)
			}
		}
	}
	return times
}

// onDay reports whether the job runs on a date. When both days are given, either
// is sufficient.
func (e *Expression) onDay(d time.Time) bool {
	if e.month&(1<<d.Month()) == 0 {
		return false
	}
	byDay, byWeekday := e.day&(1<<d.Day()) != 0, e.weekday&(1<<d.Weekday()) != 0
	if e.anyDay || e.anyWeekday {
		return byDay && byWeekday
	}
	return byDay || byWeekday
}

// fixed returns the times on a date of a job at fixed times.
func (e *Expression) fixed(date time.Time, zone *time.Location) []time.Time {
	var times []time.Time
	for hour := range 24 {
		for minute := range 60 {
			if e.hour&(1<<hour) != 0 && e.minute&(1<<minute) != 0 {
				times = append(times, moment(time.Date(date.Year(), date.Month(), date.Day(), hour, minute, 0, 0, time.UTC), zone))
			}
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// moment returns the first time at which a clock in a zone shows wall, or the time at which the clock is set
// forward if it never does.
func moment(wall time.Time, zone *time.Location) time.Time {
	before := wall.Add(-24 * time.Hour).In(zone)
	after := wall.Add(24 * time.Hour).In(zone)
	var first time.Time
	for _, near := range []time.Time{before, after} {
		_, offset := near.Zone()
		at := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if shows(at, wall) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !first.IsZero() {
		return first
	}
	_, set := before.ZoneBounds()
	return set
}

func shows(at, wall time.Time) bool {
	return at.Hour() == wall.Hour() && at.Minute() == wall.Minute() && at.Day() == wall.Day()
}

// matching returns the minutes of a date whose clock time matches.
func (e *Expression) matching(date time.Time, zone *time.Location) []time.Time {
	var times []time.Time
	at := moment(time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, time.UTC), zone)
	for ; at.Day() == date.Day(); at = at.Add(time.Minute) {
		if e.hour&(1<<at.Hour()) != 0 && e.minute&(1<<at.Minute()) != 0 {
			times = append(times, at)
		}
	}
	return times
}
