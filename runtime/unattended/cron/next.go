package cron

import (
	"slices"
	"time"
)

// horizon is how far ahead a time is looked for: from one 29 February to the
// next it may be eight years, and three are asked for.
const horizon = 25 * 366

// Next gives the next n times after t, in t's time zone. It does as cron does
// when clocks are set: a job at a fixed time that falls into the lost hour
// fires when that hour is skipped, and one in the hour that comes twice fires
// once; a job with * for minute or hour follows the clock.
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
		list := e.fixed(noon, t.Location())
		if e.floats {
			list = e.floating(noon, t.Location())
		}
		for _, at := range list {
			if at.After(t) && len(times) < n && (len(times) == 0 || at.After(times[len(times)-1])) {
				times = append(times, at)
			}
		}
	}
	return times
}

// onDay says whether the job fires on a date. When both kinds of day are given,
// either is enough.
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

// fixed are the moments of a job at fixed times on a date.
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

// moment is when a clock in a zone first shows what wall says; when it never
// does, the moment it is set past that.
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

// floating are the moments on a date whose clock time fits, minute by minute.
func (e *Expression) floating(date time.Time, zone *time.Location) []time.Time {
	var times []time.Time
	at := moment(time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, time.UTC), zone)
	for ; at.Day() == date.Day(); at = at.Add(time.Minute) {
		if e.hour&(1<<at.Hour()) != 0 && e.minute&(1<<at.Minute()) != 0 {
			times = append(times, at)
		}
	}
	return times
}
