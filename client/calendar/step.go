package calendar

import (
	"math"
	"time"

	"transect/client/fault"
)

// Step is a step in the calendar: months and days by the date, keeping the time of day, and seconds by the clock.
type Step struct {
	Months, Days int
	Seconds      float64
}

// From returns the time a number of steps from t in its zone. A day that a month lacks becomes its last one.
func (s Step) From(t time.Time, times int) (time.Time, error) {
	months, days, clock := times*s.Months, times*s.Days, float64(times)*s.Seconds
	if max(months, -months) > 12*9999 || max(days, -days) > 366*9999 || !(math.Abs(clock) <= 1e12) {
		return t, fault.Of(&fault.ValueError{}, "the time is %w", ErrYears)
	}
	if months != 0 || days != 0 {
		first := time.Date(t.Year(), t.Month()+time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(),
			time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		t = Wall(first.AddDate(0, 0, min(t.Day(), last)-1+days), t.Location())
	}
	whole, part := math.Modf(clock)
	t = time.Unix(t.Unix()+int64(whole), int64(t.Nanosecond())+int64(math.Round(part*1e9))).In(t.Location())
	return t, InYears(t)
}

// StartOf returns the start, in the zone of t, of its minute, hour, day, week (Monday), month or year.
func StartOf(t time.Time, unit string) time.Time {
	year, month, day := t.Date()
	switch unit {
	case "year":
		month, day = 1, 1
	case "month":
		day = 1
	case "week":
		day -= Weekday(t) - 1
	case "hour", "minute": // by the clock: an hour shown twice has two starts
		size := map[string]int64{"hour": 3600, "minute": 60}[unit]
		_, offset := t.Zone()
		local := t.Unix() + int64(offset)
		return time.Unix(t.Unix()-((local%size)+size)%size, 0).In(t.Location())
	}
	return Wall(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), t.Location())
}
