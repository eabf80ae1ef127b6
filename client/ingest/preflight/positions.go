package preflight

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"
)

// survey is one working out of the report.
type survey struct {
	*Checker
	problems *problemList
	photos   []photoRecord  // by camera, time and name
	jumps    map[int]bool   // indices of photos whose position is not believed
	dates    map[int]string // codes of photos whose time is not believed
}

const (
	// tolerance is how far in metres two positions of one place may be apart,
	// besides what speed allows for: GPS drift and clocks in whole seconds.
	tolerance = 100.0
	// ahead is how many photos in a row may jump before it is the aircraft
	// that moved.
	ahead = 8
	// tooMany is the part of photos that cannot all be outliers.
	tooMany = 0.1
)

// checkPositions finds positions no aircraft can have come to: a photo from
// which its neighbours in time are too far, while these are near each other.
// Photos without time are compared with all others.
func (s *survey) checkPositions() {
	s.jumps = map[int]bool{}
	reasons := map[int]string{}
	located, timed := 0, 0
	for start := 0; start < len(s.photos); {
		end := start
		var track []int
		for ; end < len(s.photos) && s.photos[end].camera == s.photos[start].camera; end++ {
			if !s.photos[end].positioned {
				continue
			}
			located++
			if s.photos[end].taken != noTime {
				track = append(track, end)
			}
		}
		timed += len(track)
		s.follow(track, reasons)
		start = end
	}
	if float64(len(reasons)) > max(tooMany*float64(timed), 2) && len(reasons) > timed/20+2 {
		s.problems.add(Problem{"positions-jump-throughout", Warning, "",
			fmt.Sprintf("%d of %d positions cannot be reached from those before and after them", len(reasons), timed),
			"several aircraft of one model? Check each folder apart; else the clock or the GPS was broken"})
		clear(reasons)
	}
	s.stray(located, reasons)
	for i, reason := range reasons {
		s.jumps[i] = true
		s.problems.add(Problem{"position-jumps", Warning, s.name(s.photos[i]), reason,
			"correct the position in the photo's EXIF record, or leave the photo out"})
	}
}

// follow goes along the photos of one camera in order of time.
func (s *survey) follow(track []int, reasons map[int]string) {
	if len(track) < 3 {
		return
	}
	// The first photo may be the one that jumps: begin where three agree.
	good := 0
	for good < min(len(track)-2, ahead) && !(s.reaches(track[good], track[good+1]) && s.reaches(track[good], track[good+2])) {
		good++
	}
	if good == min(len(track)-2, ahead) {
		good = 0
	}
	tell := func(i, from int) {
		apart := s.apart(i, from)
		seconds := math.Abs(float64(s.photos[i].taken-s.photos[from].taken)) / 1e9
		reasons[i] = fmt.Sprintf("its position jumps: %s from a photo taken %s s apart", metres(apart), humanize.FtoaWithDigits(seconds, 1))
	}
	for i := range good {
		if !s.reaches(track[i], track[good]) {
			tell(track[i], track[good])
		}
	}
	for i := good + 1; i < len(track); i++ {
		if s.reaches(track[good], track[i]) {
			good = i
			continue
		}
		back := -1
		for j := i + 1; j < min(len(track), i+1+ahead); j++ {
			if s.reaches(track[good], track[j]) {
				back = j
				break
			}
		}
		// At the end nobody comes back: one alone is taken for the outlier.
		if back < 0 && i == len(track)-1 {
			back = len(track)
		}
		if back < 0 {
			good = i // it went on from there
			continue
		}
		for j := i; j < back; j++ {
			tell(track[j], track[good])
		}
		if back == len(track) {
			return
		}
		i, good = back, back
	}
}

// reaches tells whether an aircraft can be at both places at their times.
func (s *survey) reaches(a, b int) bool {
	seconds := math.Abs(float64(s.photos[a].taken-s.photos[b].taken)) / 1e9
	return s.apart(a, b) <= tolerance+s.opts.MaxSpeed*(seconds+1)
}

func (s *survey) apart(a, b int) float64 {
	p, q := s.photos[a], s.photos[b]
	return distance(p.latitude, p.longitude, q.latitude, q.longitude)
}

// stray finds positions far from all others, whatever their times: more than a
// kilometre from the middle, and twenty times as far as half of the photos
// are. It needs a handful of photos to know where the middle is.
func (s *survey) stray(located int, reasons map[int]string) {
	if located < 5 {
		return
	}
	var latitudes, longitudes []float64
	first := 0.0
	for _, p := range s.photos {
		if p.positioned {
			if len(longitudes) == 0 {
				first = p.longitude
			}
			latitudes = append(latitudes, p.latitude)
			longitudes = append(longitudes, math.Remainder(p.longitude-first, 360))
		}
	}
	middle, meridian := median(latitudes), median(longitudes)+first
	distances := make([]float64, 0, located)
	for _, p := range s.photos {
		if p.positioned {
			distances = append(distances, distance(p.latitude, p.longitude, middle, meridian))
		}
	}
	limit := max(20*median(distances), 1000)
	var far []int
	for i, p := range s.photos {
		if p.positioned && reasons[i] == "" && distance(p.latitude, p.longitude, middle, meridian) > limit {
			far = append(far, i)
		}
	}
	if float64(len(far)) > tooMany*float64(located) && len(far) > 1 {
		return // another site, not outliers
	}
	for _, i := range far {
		p := s.photos[i]
		reasons[i] = fmt.Sprintf("its position is %s from the middle of the survey, far from all others",
			metres(distance(p.latitude, p.longitude, middle, meridian)))
	}
}

// median puts values in order.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// distance is that of two positions in metres, on a sphere.
func distance(latitude, longitude, otherLatitude, otherLongitude float64) float64 {
	const radius, degree = 6_371_008.8, math.Pi / 180
	north := math.Sin((latitude - otherLatitude) * degree / 2)
	east := math.Sin((longitude - otherLongitude) * degree / 2)
	h := north*north + math.Cos(latitude*degree)*math.Cos(otherLatitude*degree)*east*east
	return 2 * radius * math.Asin(math.Sqrt(min(h, 1)))
}

func metres(m float64) string {
	if m >= 10_000 {
		return humanize.Comma(int64(math.Round(m/1000))) + " km"
	}
	if m >= 1000 {
		return humanize.FtoaWithDigits(m/1000, 1) + " km"
	}
	return humanize.FtoaWithDigits(m, 0) + " m"
}
