package track

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	sameDirection = 25.0 // degrees between two steps along a strip
	// wide is the multiple of the usual step between photos that counts as a gap, wideStrips of the distance of
	// strips.
	wide, wideStrips = 1.8, 1.6
	still            = 0.5 // metres: the aircraft hovered
	stripPhotos      = 4   // minimum photos of a strip
	maxGaps          = 200 // limit of reported gaps
)

// strip is a straight part of a line.
type strip struct {
	from, to  vector
	direction vector // of length 1
	first     int    // photo
}

// walk follows a line and returns its strips, and the gaps in them.
func walk(photos []Photo, m plane, line []int) (strips []strip, gaps []Gap) {
	at := make([]vector, len(line))
	var steps []float64
	for k, i := range line {
		at[k] = m.to(photos[i])
		if k > 0 {
			if d := at[k].minus(at[k-1]).length(); d > still {
				steps = append(steps, d)
			}
		}
	}
	if len(steps) < stripPhotos {
		return nil, nil
	}
	slices.Sort(steps)
	usual := median(steps)
	start := 0
	end := func(k int) { // the strip from start to k
		if k-start+1 < stripPhotos {
			return
		}
		along := at[k].minus(at[start])
		if along.length() > 2*usual {
			strips = append(strips, strip{at[start], at[k], along.times(1 / along.length()), line[start]})
		}
	}
	for k := 1; k < len(at); k++ {
		step := at[k].minus(at[k-1])
		if step.length() <= still {
			continue
		}
		if k-1 > start && !within(at[k-1].minus(at[start]).angle(step), sameDirection) {
			end(k - 1)
			start = k
			if k+1 < len(at) && within(step.angle(at[k+1].minus(at[k])), sameDirection) {
				start = k - 1
			}
			continue
		}
		if step.length() > wide*usual && straight(at, k) && len(gaps) < maxGaps {
			missing := max(1, int(math.Round(step.length()/usual))-1)
			gaps = append(gaps, Gap{From: m.from(at[k-1]), To: m.from(at[k]), Photo: line[k-1],
				Message: fmt.Sprintf("%s missing between %s and %s: they are %.0f m apart, the others %.0f m",
					photoCount(missing), photos[line[k-1]].Name, photos[line[k]].Name, step.length(), usual)})
		}
	}
	end(len(at) - 1)
	return strips, gaps
}

// straight reports whether the steps before and after step k have the same direction, so that it is not a
// turn.
func straight(at []vector, k int) bool {
	step := at[k].minus(at[k-1])
	before, after := false, false
	if k > 1 {
		if s := at[k-1].minus(at[k-2]); s.length() > still {
			if !within(s.angle(step), sameDirection) {
				return false
			}
			before = true
		}
	}
	if k+1 < len(at) {
		if s := at[k+1].minus(at[k]); s.length() > still {
			if !within(s.angle(step), sameDirection) {
				return false
			}
			after = true
		}
	}
	return before && after
}

func photoCount(n int) string {
	if n == 1 {
		return "a photo is"
	}
	return fmt.Sprintf("about %d photos are", n)
}

// missingStrips compares the distances of neighbouring parallel strips.
func missingStrips(photos []Photo, m plane, strips []strip) (gaps []Gap) {
	for len(strips) > 0 {
		var same, others []strip
		for _, s := range strips {
			if parallel(s.direction, strips[0].direction) {
				same = append(same, s)
			} else {
				others = append(others, s)
			}
		}
		gaps = append(gaps, between(photos, m, same)...)
		strips = others
	}
	return gaps
}

// between finds the strips missing among parallel ones.
func between(photos []Photo, m plane, strips []strip) (gaps []Gap) {
	if len(strips) < 3 {
		return nil
	}
	along := strips[0].direction
	across := along.across()
	offset := func(s strip) float64 { return s.from.plus(s.to).times(0.5).dot(across) }
	slices.SortFunc(strips, func(a, b strip) int { return cmp.Compare(offset(a), offset(b)) })
	type pair struct {
		a, b     strip
		lo, hi   float64 // the part along both
		distance float64
	}
	var pairs []pair
	var distances []float64
	for i := range strips {
		a := strips[i]
		for _, b := range strips[i+1:] {
			aLow, aHigh := ordered(a.from.dot(along), a.to.dot(along))
			bLow, bHigh := ordered(b.from.dot(along), b.to.dot(along))
			d := offset(b) - offset(a)
			if shared := overlap(aLow, aHigh, bLow, bHigh); d > still && shared > min(aHigh-aLow, bHigh-bLow)/2 {
				pairs = append(pairs, pair{a, b, max(aLow, bLow), min(aHigh, bHigh), d})
				distances = append(distances, d)
				break // the next neighbour
			}
		}
	}
	if len(distances) < 2 {
		return nil
	}
	slices.Sort(distances)
	usual := distances[(len(distances)-1)/2]
	for _, p := range pairs {
		if p.distance <= wideStrips*usual || len(gaps) == maxGaps {
			continue
		}
		missing := max(1, int(math.Round(p.distance/usual))-1)
		for n := 1; n <= min(missing, 20); n++ {
			o := offset(p.a) + p.distance*float64(n)/float64(missing+1)
			gaps = append(gaps, Gap{From: m.from(along.times(p.lo).plus(across.times(o))),
				To: m.from(along.times(p.hi).plus(across.times(o))), Photo: p.a.first,
				Message: fmt.Sprintf("a strip seems to be missing: the strips that begin with %s and %s are %.0f m apart, the "+
					"others %.0f m",
					photos[p.a.first].Name, photos[p.b.first].Name, p.distance, usual)})
		}
	}
	return gaps
}
