package preflight

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"

	"transect/client/human"
	"transect/client/internal/tempfile"
)

// survey is the state of one report.
type survey struct {
	*Checker
	problems problemList
	photos   *tempfile.Column[photoRecord] // by camera, time and name
	jumps    map[uint32]bool               // indices of photos with implausible positions
}

const (
	// tolerance is how far in metres two positions of one place may be apart, in addition to the
	// speed: GPS drift and clocks in whole seconds.
	tolerance = 100.0
	// maxSpeed of an aircraft, in m/s.
	maxSpeed = 70.0
	// ahead is how many consecutive photos may be outliers; beyond that the aircraft has moved.
	ahead = 8
	// tooMany is the share of photos too large to be outliers.
	tooMany = 0.1
)

// checkPositions finds positions that no aircraft can have reached: the neighbours in time are too
// far away, but near each other. Photos without a time are compared with the middle of the survey.
func (s *survey) checkPositions() {
	s.jumps = map[uint32]bool{}
	reasons := map[uint32]uint32{}
	located, timed := 0, 0
	for start := 0; start < s.photos.Len(); {
		end, camera := start, s.photos.At(start).camera
		var track []uint32
		for ; end < s.photos.Len(); end++ {
			p := s.photos.At(end)
			if p.camera != camera {
				break
			}
			if !p.positioned {
				continue
			}
			located++
			if p.taken != noTime {
				track = append(track, uint32(end))
			}
		}
		timed += len(track)
		s.follow(track, reasons)
		start = end
	}
	if float64(len(reasons)) > max(tooMany*float64(timed), 2) && len(reasons) > timed/20+2 {
		s.problems.add(newProblem("positions-jump-throughout", Warning, "",
			fmt.Sprintf("%d of %d positions cannot be reached from those before and after them", len(reasons), timed),
			"with several aircraft of one model check each folder on its own; otherwise the clock or the GPS was broken"))
		clear(reasons)
	}
	far := s.farAway(located, reasons)
	report := func(i uint32, reason string) {
		s.jumps[i] = true
		s.problems.add(newProblem("position-jumps", Warning, s.name(s.photos.At(int(i))), reason,
			"correct the position in the photo's EXIF record, or leave the photo out"))
	}
	for i, from := range reasons {
		seconds := math.Abs(float64(s.photos.At(int(i)).taken-s.photos.At(int(from)).taken)) / 1e9
		report(i, fmt.Sprintf("its position jumps: %s from a photo taken %s s apart", metres(s.apart(i, from)),
			humanize.FtoaWithDigits(seconds, 1)))
	}
	for i, metresAway := range far {
		report(i, fmt.Sprintf("its position is %s from the middle of the survey, far from all others", metres(metresAway)))
	}
}

// follow tracks the photos of one camera in order of time. For each outlier it records the photo
// from which it cannot be reached.
func (s *survey) follow(track []uint32, reasons map[uint32]uint32) {
	if len(track) < 3 {
		return
	}
	// The first photo may be an outlier, so begin where three agree.
	good := 0
	for good < min(len(track)-2, ahead) &&
		!(s.reaches(track[good], track[good+1]) && s.reaches(track[good], track[good+2])) {
		good++
	}
	if good == min(len(track)-2, ahead) {
		good = 0
	}
	for i := range good {
		if !s.reaches(track[i], track[good]) {
			reasons[track[i]] = track[good]
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
		// The last photo has no successor: alone it counts as an outlier.
		if back < 0 && i == len(track)-1 {
			back = len(track)
		}
		if back < 0 {
			good = i // the track continued from there
			continue
		}
		for j := i; j < back; j++ {
			reasons[track[j]] = track[good]
		}
		if back == len(track) {
			return
		}
		i, good = back, back
	}
}

// reaches reports whether an aircraft can be at both positions at their times.
func (s *survey) reaches(a, b uint32) bool {
	seconds := math.Abs(float64(s.photos.At(int(a)).taken-s.photos.At(int(b)).taken)) / 1e9
	return s.apart(a, b) <= tolerance+maxSpeed*(seconds+1)
}

func (s *survey) apart(a, b uint32) float64 {
	p, q := s.photos.At(int(a)), s.photos.At(int(b))
	return distance(p.latitude, p.longitude, q.latitude, q.longitude)
}

// farAway finds positions far from all others, whatever their times, with their distance: more than
// a kilometre from the middle, and twenty times as far as the median. Determining the middle needs
// a handful of photos.
func (s *survey) farAway(located int, reasons map[uint32]uint32) map[uint32]float64 {
	if located < 5 {
		return nil
	}
	values := make([]float64, 0, located)
	each := func(value func(photoRecord) float64) []float64 {
		values = values[:0]
		for _, p := range s.photos.All {
			if p.positioned {
				values = append(values, value(p))
			}
		}
		return values
	}
	first := math.NaN()
	middle := median(each(func(p photoRecord) float64 { return p.latitude }))
	meridian := median(each(func(p photoRecord) float64 {
		if math.IsNaN(first) {
			first = p.longitude
		}
		return math.Remainder(p.longitude-first, 360)
	})) + first
	away := func(p photoRecord) float64 { return distance(p.latitude, p.longitude, middle, meridian) }
	limit := max(20*median(each(away)), 1000)
	far := map[uint32]float64{}
	most := max(tooMany*float64(located), 1)
	for i, p := range s.photos.All {
		if !p.positioned || away(p) <= limit {
			continue
		}
		if _, jumps := reasons[uint32(i)]; jumps {
			continue
		}
		if far[uint32(i)] = away(p); float64(len(far)) > most {
			return nil // another site, not outliers
		}
	}
	return far
}

// median returns the median, and sorts the values.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// distance returns the distance of two positions in metres, on a sphere.
func distance(latitude, longitude, otherLatitude, otherLongitude float64) float64 {
	return geo.DistanceHaversine(orb.Point{longitude, latitude}, orb.Point{otherLongitude, otherLatitude})
}

func metres(m float64) string {
	if m >= 10_000 {
		return human.Number(int64(math.Round(m/1000))) + " km"
	}
	if m >= 1000 {
		return humanize.FtoaWithDigits(m/1000, 1) + " km"
	}
	return humanize.FtoaWithDigits(m, 0) + " m"
}
