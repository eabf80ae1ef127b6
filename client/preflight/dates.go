package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

const (
	// longFlight is the maximum duration of a survey; photos farther than this from the median time are reported.
	longFlight = 7 * 24 * time.Hour
	// fromMission is the largest distance of photos from the mission's date.
	fromMission = 2 * 24 * time.Hour
)

// unset reports whether the time is from a clock that was never set: it starts at 1970 or 1980, or
// at New Year's Day of some later year, all before the first drones.
func unset(t time.Time) bool {
	return t.Year() < 2000 || t.Year() <= 2010 && t.YearDay() == 1
}

// plausibleRange returns the first and the last of sorted times, without the few far from all others,
// from a clock that was reset to some day.
func plausibleRange(times []int64, middle int64) (first, last time.Time) {
	near := slices.DeleteFunc(slices.Clone(times), func(t int64) bool {
		return time.Duration(t-middle).Abs() > longFlight
	})
	if 4*len(near) >= 3*len(times) {
		times = near
	}
	return time.Unix(0, times[0]).UTC(), time.Unix(0, times[len(times)-1]).UTC()
}

// checkDates finds wrong clocks, and photos of another flight.
func (s *survey) checkDates(report *Report) {
	const hint = "correct the camera's clock and the photo's date"
	future := s.opts.Now.Add(26 * time.Hour).UnixNano() // in any time zone
	written := func(p photoRecord) string { return p.time().In(cmp.Or(s.opts.Zone, time.UTC)).Format(time.DateTime) }
	var times []int64
	usable := func(p photoRecord) bool {
		return p.taken != noTime && p.taken <= future && !unset(p.time())
	}
	for _, p := range s.photos.All {
		switch {
		case usable(p):
			times = append(times, p.taken)
		case p.taken == noTime:
		case p.taken > future:
			s.problems.add(newProblem("date-in-future", Warning, s.name(p),
				"it was taken in the future, "+written(p), hint))
		default:
			s.problems.add(newProblem("clock-not-set", Warning, s.name(p),
				"it was taken "+written(p)+": the camera's clock was not set", hint))
		}
	}
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	middle := times[len(times)/2]
	report.First, report.Last = plausibleRange(times, middle)
	for _, p := range s.photos.All {
		if !usable(p) {
			continue
		}
		if apart := time.Duration(p.taken - middle).Abs(); apart > longFlight {
			s.problems.add(newProblem("date-apart", Warning, s.name(p),
				fmt.Sprintf("it was taken %s, %d days from most others", written(p), int(apart.Hours()/24)),
				"if it belongs to another flight, leave it out"))
		}
	}
	if !s.opts.Date.IsZero() {
		if apart := time.Duration(middle - s.opts.Date.UnixNano()).Abs(); apart > fromMission+24*time.Hour {
			s.problems.add(newProblem("date-not-mission", Warning, "",
				fmt.Sprintf("most photos were taken on %s, the mission was on %s",
					time.Unix(0, middle).UTC().Format(time.DateOnly), s.opts.Date.Format(time.DateOnly)),
				"check that these are the photos of this mission"))
		}
	}
}
