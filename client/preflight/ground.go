package preflight

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"github.com/tidwall/gjson"

	"transect/client/formats/imagery"
	"transect/client/geodesic"
	"transect/client/human"
	"transect/client/verdict"
)

// checkCameras reports a survey taken by several cameras. The lenses of one rig count as one model.
func (s *survey) checkCameras() {
	counts := map[uint16]int{}
	for _, p := range s.photos.All {
		counts[p.camera]++
	}
	if len(counts) < 2 {
		return
	}
	var list []string
	for _, camera := range slices.SortedFunc(maps.Keys(counts), func(a, b uint16) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(s.cameras.text(a), s.cameras.text(b)))
	}) {
		name := cmp.Or(s.cameras.text(camera), "an unnamed camera")
		list = append(list, fmt.Sprintf("%s (%s)", name, human.Number(counts[camera])))
		if len(list) == 6 && len(counts) > 6 {
			list = append(list, fmt.Sprintf("%d more", len(counts)-6))
			break
		}
	}
	s.problems.add(newProblem("mixed-cameras", Warning, "",
		"the photos are of several cameras: "+strings.Join(list, ", "),
		"photos of different cameras mostly belong in different flights"))
}

// checkGround computes the footprint and compares it with the mission's.
func (s *survey) checkGround(report *Report) {
	var ground imagery.Ground
	for i, p := range s.photos.All {
		if p.positioned && !s.jumps[uint32(i)] {
			ground.Add(p.shape())
		}
	}
	ring := ground.Ring()
	if ring == nil {
		return
	}
	report.Footprint = &Polygon{Type: "Polygon", Coordinates: [][][2]float64{ring}}
	report.Area = geodesic.Area(ring)
	if len(s.opts.Mission) < 3 {
		return
	}
	flown, wanted := ringOf(ring), ringOf(s.opts.Mission)
	if planar.RingContains(wanted, middleOf(flown)) || planar.RingContains(flown, middleOf(wanted)) {
		return
	}
	a, b := middleOf(flown), middleOf(wanted)
	apart := distance(a[1], a[0], b[1], b[0])
	// Two adjacent areas of equal size are apart by their size.
	if reach := radius(flown, a) + radius(wanted, b); apart > reach+tolerance {
		s.problems.add(newProblem("far-from-mission", Warning, "",
			fmt.Sprintf("the photos were taken %s from the mission's area", metres(apart-reach)),
			"check that these are the photos of this mission, and that its coordinates are longitude, latitude"))
	}
}

func ringOf(points [][2]float64) orb.Ring {
	ring := make(orb.Ring, len(points))
	for i, p := range points {
		ring[i] = p
	}
	if !ring.Closed() {
		ring = append(ring, ring[0])
	}
	return ring
}

func middleOf(ring orb.Ring) orb.Point {
	middle, area := planar.CentroidArea(ring)
	if area == 0 {
		return ring.Bound().Center()
	}
	return middle
}

// radius returns the distance in metres from the middle to the farthest corner.
func radius(ring orb.Ring, middle orb.Point) float64 {
	r := 0.0
	for _, p := range ring {
		r = max(r, distance(p[1], p[0], middle[1], middle[0]))
	}
	return r
}

// checkCount compares the number of images with the expected number.
func (s *survey) checkCount() {
	if s.opts.Expected <= 0 || s.report.Images == s.opts.Expected {
		return
	}
	hint := "check that the whole card was copied"
	if s.report.Images > s.opts.Expected {
		hint = "leave out photos of other flights and previews, or correct the mission's number of images"
	}
	there := fmt.Sprintf("there are %s images", human.Number(s.report.Images))
	if s.report.Images == 1 {
		there = "there is 1 image"
	}
	s.problems.add(newProblem("image-count", Warning, "",
		fmt.Sprintf("%s, the mission announces %s", there, human.Number(s.opts.Expected)), hint))
}

// checkDuplicates finds files that are identical byte for byte, like a run does: the first by name
// is the original.
func (s *survey) checkDuplicates(ctx context.Context, report *Report) {
	size := func(i int) int64 {
		if f := s.files.At(i); !f.part() {
			return f.size
		}
		return int64(-1 - i) // sidecar files, such as the .prj of many rasters, may legitimately be equal
	}
	name := func(i int) string { name, _, _ := s.file(i); return name }
	path := func(i int) string { _, path, _ := s.file(i); return path }
	byName := func(a, b int) int { return cmp.Or(imagery.NaturalCompare(name(a), name(b)), cmp.Compare(a, b)) }
	imagery.Duplicates(ctx, s.opts.Tree, s.files.Len(), size, path, byName, func(duplicate, original int) {
		_, _, kind := s.file(duplicate)
		elsewhere := filepath.Dir(path(original)) != filepath.Dir(path(duplicate))
		// Otherwise both are meant, or it was listed twice.
		if path(original) != path(duplicate) && (kind == "image" || !elsewhere) {
			s.problems.add(newProblem("duplicate", Warning, name(duplicate), "it is the same file as "+name(original),
				"leave one of the two out"))
			report.tally(verdict.Duplicate)
		}
	})
}

// RingOf converts a GeoJSON geometry to Options.Mission: the outer ring of a polygon, the bounding
// box of anything else; nil without positions.
func RingOf(text string) [][2]float64 {
	g := gjson.Parse(text)
	if g.Get("type").String() == "Polygon" {
		return positions(g.Get("coordinates.0"), nil)
	}
	all := positions(g, nil)
	if len(all) == 0 {
		return nil
	}
	low, high := all[0], all[0]
	for _, p := range all {
		for i := range p {
			low[i], high[i] = min(low[i], p[i]), max(high[i], p[i])
		}
	}
	return [][2]float64{low, {high[0], low[1]}, high, {low[0], high[1]}, low}
}

// positions appends the positions at any depth of a GeoJSON value.
func positions(v gjson.Result, all [][2]float64) [][2]float64 {
	list := v.Array()
	if v.IsObject() {
		list = []gjson.Result{v.Get("coordinates"), v.Get("geometries")}
	} else if len(list) >= 2 && list[0].Type == gjson.Number && list[1].Type == gjson.Number {
		return append(all, [2]float64{list[0].Float(), list[1].Float()})
	}
	for _, e := range list {
		if e.IsArray() || e.IsObject() {
			all = positions(e, all)
		}
	}
	return all
}
