// Package track groups the photos of a survey into flight lines by time, and finds gaps: missing photos in a
// line, and whole missing strips between two others.
package track

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"transect/client/formats/imagery"
	"transect/client/geodesic"
)

// Photo is the position of a photo in degrees, and when it was taken.
type Photo struct {
	Name     string
	Lon, Lat float64
	Taken    time.Time // zero when unknown: such photos are in no line
	Group    string    // photos of one group form lines: a camera, or a flight
}

// Gap is a place where photos are missing.
type Gap struct {
	From, To [2]float64 // longitude and latitude, in degrees
	Photo    int        // the photo before the gap
	Message  string
}

const (
	// longPause and manyIntervals end a line: the aircraft landed.
	longPause     = time.Minute
	manyIntervals = 20
)

// Find returns the flight lines, as indices of photos in order of time, and the
// gaps.
func Find(photos []Photo) (lines [][]int, gaps []Gap) {
	groups := map[string][]int{}
	for i, p := range photos {
		if !p.Taken.IsZero() {
			groups[p.Group] = append(groups[p.Group], i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list := groups[name]
		slices.SortFunc(list, func(a, b int) int {
			return cmp.Or(photos[a].Taken.Compare(photos[b].Taken), imagery.NaturalCompare(photos[a].Name, photos[b].Name),
				strings.Compare(photos[a].Name, photos[b].Name))
		})
		lines = append(lines, split(photos, list)...)
	}
	var strips []strip
	plane := newPlane(photos)
	for _, line := range lines {
		found, missing := walk(photos, plane, line)
		strips, gaps = append(strips, found...), append(gaps, missing...)
	}
	return lines, append(gaps, missingStrips(photos, plane, strips)...)
}

// split splits photos in order of time where the aircraft paused.
func split(photos []Photo, list []int) (lines [][]int) {
	var intervals []time.Duration
	for k := 1; k < len(list); k++ {
		if d := photos[list[k]].Taken.Sub(photos[list[k-1]].Taken); d > 0 {
			intervals = append(intervals, d)
		}
	}
	pause := longPause
	if len(intervals) > 0 {
		slices.Sort(intervals)
		pause = max(pause, manyIntervals*intervals[len(intervals)/2])
	}
	start := 0
	for k := 1; k <= len(list); k++ {
		if k == len(list) || photos[list[k]].Taken.Sub(photos[list[k-1]].Taken) > pause {
			if k-start > 1 {
				lines = append(lines, list[start:k])
			}
			start = k
		}
	}
	return lines
}

// plane is a local map in metres.
type plane struct{ lon, lat, east, north float64 }

type vector struct{ x, y float64 }

func newPlane(photos []Photo) plane {
	if len(photos) == 0 {
		return plane{}
	}
	lats := make([]float64, len(photos))
	for i, p := range photos {
		lats[i] = p.Lat
	}
	slices.Sort(lats)
	m := plane{lon: photos[0].Lon, lat: lats[len(lats)/2]}
	m.east, m.north = geodesic.Degree(m.lat)
	return m
}

func (m plane) to(p Photo) vector {
	return vector{math.Remainder(p.Lon-m.lon, 360) * m.east, (p.Lat - m.lat) * m.north}
}

func (m plane) from(v vector) [2]float64 {
	return [2]float64{math.Remainder(m.lon+v.x/m.east, 360), m.lat + v.y/m.north}
}

func (v vector) minus(w vector) vector      { return vector{v.x - w.x, v.y - w.y} }
func (v vector) dot(w vector) float64       { return v.x*w.x + v.y*w.y }
func (v vector) length() float64            { return math.Hypot(v.x, v.y) }
func (v vector) times(f float64) vector     { return vector{v.x * f, v.y * f} }
func (v vector) plus(w vector) vector       { return vector{v.x + w.x, v.y + w.y} }
func (v vector) angle(w vector) float64     { return math.Atan2(math.Abs(v.x*w.y-v.y*w.x), v.dot(w)) }
func (v vector) across() vector             { return vector{-v.y, v.x} }
func median(sorted []float64) float64       { return sorted[len(sorted)/2] }
func degrees(radians float64) float64       { return radians * 180 / math.Pi }
func within(angle, limit float64) bool      { return degrees(angle) <= limit }
func parallel(v, w vector) bool             { a := degrees(v.angle(w)); return min(a, 180-a) <= 12 }
func overlap(a, b, c, d float64) float64    { return min(b, d) - max(a, c) }
func ordered(a, b float64) (lo, hi float64) { return min(a, b), max(a, b) }
