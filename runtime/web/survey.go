package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/paulmach/orb"

	"transect/client/formats/imagery"
	"transect/client/geodesic"
	"transect/client/human"
	"transect/client/preflight"
	"transect/runtime/web/internal/track"
)

// The data of the map is streamed, one JSON object per line:
//
// {"kind": "shape", "of": "mission", "id": …, "name": …, "geometry": …}
// {"kind": "photos", "id": […], "name": […], "at": [lon, lat, …], "time": […], "state": […], …}
// {"kind": "survey", "lines": […], "gaps": […], "problems": […], "text": …}
// {"kind": "problem", "message": …}      the stream ends early
//
// static/map/load.js reads it.

// lineStream writes the lines.
type lineStream struct {
	w http.ResponseWriter
}

func newLineStream(w http.ResponseWriter) *lineStream {
	w.Header().Set("Content-Type", "application/x-ndjson")
	return &lineStream{w}
}

// send writes a line and flushes it.
func (l *lineStream) send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := l.w.Write(append(visibleJSON(line), '\n')); err != nil {
		return err
	}
	return http.NewResponseController(l.w).Flush()
}

// visibleJSON escapes hidden characters twice: a reader of the JSON shows the escape.
func visibleJSON(line []byte) []byte {
	if !bytes.ContainsFunc(line, human.Hidden) {
		return line
	}
	var b bytes.Buffer
	for _, c := range string(line) {
		if human.Hidden(c) {
			fmt.Fprintf(&b, `\\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.Bytes()
}

// The states of a photo, with the numbers of static/map/photos.js.
const (
	photoGood = iota
	photoWaiting
	photoWarning
	photoBad
)

// photo is one photo of a survey.
type photo struct {
	imagery.Photo
	id, name string
	state    int
	group    string       // flight and camera: its photos form lines
	ground   [][2]float64 // ring of the ground in it, nil when unknown
}

// photoPage is one line of photos, in columns.
type photoPage struct {
	Kind     string     `json:"kind"`
	ID       []string   `json:"id"`
	Name     []string   `json:"name"`
	At       []float64  `json:"at"`               // longitude, latitude, longitude …
	Time     []any      `json:"time"`             // milliseconds since 1970, or null
	Altitude []*float64 `json:"altitude"`         // metres above sea level
	State    []int      `json:"state"`            // see above
	Ground   []any      `json:"ground,omitempty"` // ring in units of 1e-7 degrees from the position, or 0
	grounds  bool
}

const (
	photosPerLine = 1000
	firstLine     = 100 // small, to show something early
)

// survey collects photos for the map and for the flight report. The photos of a part, such as a mission, are
// checked together and form lines.
type survey struct {
	send  func(any) error // called with pages of photos; nil when they are not drawn
	page  photoPage
	sent  int // photos with a position
	parts map[string]*surveyPart
	now   time.Time
}

type surveyPart struct {
	checker *preflight.Checker
	photos  []track.Photo
	index   []int             // of the photos, in the order sent
	ids     map[string]string // by name
	refused []finding
	ground  []orb.Point // corners of the ground in the photos
	shown   int         // number of photos with known ground
}

// maxCorners is the number of corners from which inner ones are dropped.
const maxCorners = 50_000

// show adds the ground of a photo.
func (part *surveyPart) show(ring [][2]float64) {
	if ring == nil {
		return
	}
	part.shown++
	for _, p := range ring {
		if len(part.ground) > 0 { // continuous across the date line
			p[0] = part.ground[0][0] + math.Remainder(p[0]-part.ground[0][0], 360)
		}
		part.ground = append(part.ground, p)
	}
	if len(part.ground) > maxCorners {
		part.ground = imagery.ConvexHull(part.ground)
	}
}

// area returns the area of the ground of all photos, 0 if unknown for some.
func (part *surveyPart) area() float64 {
	hull := imagery.ConvexHull(part.ground)
	if part.shown < len(part.photos) || len(hull) < 3 {
		return 0
	}
	ring := make([][2]float64, 0, len(hull)+1)
	for _, p := range append(hull, hull[0]) {
		ring = append(ring, p)
	}
	return geodesic.Area(ring)
}

func newSurvey(now time.Time, send func(any) error) *survey {
	return &survey{send: send, parts: map[string]*surveyPart{}, now: now}
}

func (s *survey) close() {
	for _, part := range s.parts {
		part.checker.Close()
	}
}

// part returns the part with a name, creating it if needed.
func (s *survey) part(name string) *surveyPart {
	part := s.parts[name]
	if part == nil {
		part = &surveyPart{checker: preflight.New(preflight.Options{SkipDuplicates: true, Now: s.now,
			Zone: s.now.Location()}), ids: map[string]string{}}
		s.parts[name] = part
	}
	return part
}

// add adds a checked photo. One without a position is not drawn.
func (s *survey) add(part *surveyPart, p photo) error {
	part.ids[p.name] = p.id
	if !p.HasPosition {
		return nil
	}
	part.photos = append(part.photos, track.Photo{Name: p.name, Lon: p.Longitude, Lat: p.Latitude, Taken: p.Acquired,
		Group: p.group})
	part.index = append(part.index, s.sent)
	part.show(p.ground)
	s.sent++
	if s.send == nil {
		return nil
	}
	g := &s.page
	g.Kind = "photos"
	g.ID, g.Name, g.State = append(g.ID, p.id), append(g.Name, p.name), append(g.State, p.state)
	g.At = append(g.At, rounded(p.Longitude), rounded(p.Latitude))
	g.Altitude = append(g.Altitude, p.Altitude)
	if p.Acquired.IsZero() {
		g.Time = append(g.Time, nil)
	} else {
		g.Time = append(g.Time, p.Acquired.UnixMilli())
	}
	if p.ground == nil {
		g.Ground = append(g.Ground, 0)
	} else {
		g.Ground, g.grounds = append(g.Ground, offsets(p)), true
	}
	if len(g.ID) >= photosPerLine || s.sent == firstLine {
		return s.flush()
	}
	return nil
}

func rounded(degrees float64) float64 { return math.Round(degrees*1e7) / 1e7 }

// offsets returns the ground in units of 1e-7 degrees from the photo.
func offsets(p photo) []int {
	var list []int
	for i, corner := range p.ground {
		if i == len(p.ground)-1 && corner == p.ground[0] {
			break
		}
		list = append(list, int(math.Round(math.Remainder(corner[0]-p.Longitude, 360)*1e7)),
			int(math.Round((corner[1]-p.Latitude)*1e7)))
	}
	return list
}

// flush sends the photos added so far.
func (s *survey) flush() error {
	if s.send == nil || len(s.page.ID) == 0 {
		return nil
	}
	if !s.page.grounds {
		s.page.Ground = nil
	}
	err := s.send(s.page)
	s.page = photoPage{}
	return err
}

// finish ends the survey and returns the result.
func (s *survey) finish(ctx context.Context) (*surveyResult, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	r := &surveyResult{Kind: "survey", Lines: [][]int{}, Gaps: []gapLine{}, Problems: []finding{}, positioned: s.sent}
	for _, name := range slices.Sorted(maps.Keys(s.parts)) {
		s.parts[name].finish(ctx, r)
	}
	return r, nil
}

// finish adds the result of a part.
func (part *surveyPart) finish(ctx context.Context, r *surveyResult) {
	report := part.checker.Report(ctx)
	r.reports, r.counts = append(r.reports, report), append(r.counts, report.Counts...)
	r.Problems = append(r.Problems, part.refused...)
	if n := len(part.refused); n > 0 {
		r.counts = append(r.counts, preflight.Count{Code: "refused", Severity: preflight.Error, Count: n})
	}
	outliers := map[string]bool{}
	for _, p := range report.Problems {
		r.Problems = append(r.Problems, finding{p, part.ids[p.Name]})
		if p.Code == "position-jumps" {
			outliers[p.Name] = true
		}
	}
	if len(outliers) == 0 {
		report.Area = cmp.Or(part.area(), report.Area)
	}
	var photos []track.Photo
	var index []int
	for i, p := range part.photos {
		if !outliers[p.Name] {
			photos, index = append(photos, p), append(index, part.index[i])
		}
	}
	lines, gaps := track.Find(photos)
	for _, line := range lines {
		for k := range line {
			line[k] = index[line[k]]
		}
	}
	r.Lines = append(r.Lines, lines...)
	for _, g := range gaps {
		r.Gaps = append(r.Gaps, gapLine{[4]float64{g.From[0], g.From[1], g.To[0], g.To[1]}, g.Message})
		name := photos[g.Photo].Name
		r.Problems = append(r.Problems, finding{preflight.Problem{Code: "gap", Severity: preflight.Warning, Name: name,
			Message: g.Message,
			Hint:    "were photos left on the card, or does this part have to be flown again?"}, part.ids[name]})
	}
	if len(gaps) > 0 {
		r.counts = append(r.counts, preflight.Count{Code: "gap", Severity: preflight.Warning, Count: len(gaps)})
	}
}
