package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"transect/client/imagery"
	"transect/client/preflight"
	"transect/runtime/web/track"
)

// What the map reads is streamed, one JSON object a line:
//
//	{"kind": "shape", "of": "mission", "id": …, "name": …, "geometry": …}
//	{"kind": "photos", "id": […], "name": […], "at": [lon, lat, …], "time": […], "state": […], …}
//	{"kind": "survey", "lines": […], "gaps": […], "problems": […], "text": …}
//	{"kind": "problem", "message": …}      the stream ends early
//
// static/map/load.js reads it.

// lineStream writes the lines.
type lineStream struct {
	w       http.ResponseWriter
	encoder *json.Encoder
}

func newLineStream(w http.ResponseWriter) *lineStream {
	w.Header().Set("Content-Type", "application/x-ndjson")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return &lineStream{w, encoder}
}

// send writes a line; the browser gets it at once.
func (l *lineStream) send(v any) error {
	if err := l.encoder.Encode(v); err != nil {
		return err
	}
	return http.NewResponseController(l.w).Flush()
}

// The states of a photo, as static/map/photos.js numbers them.
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
	ground   [][2]float64 // ring of the ground it shows, nil when unknown
}

// photoPage is a line with photos, in columns.
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
	firstLine     = 100 // shown while the others are on their way
)

// survey collects photos for the map and for the flight report. The photos of a
// part, which is a mission, are checked together and form lines.
type survey struct {
	send  func(any) error // of pages of photos; nil when nobody draws them
	page  photoPage
	sent  int // photos with a position
	parts map[string]*surveyPart
	now   time.Time
}

type surveyPart struct {
	checker *preflight.Checker
	photos  []track.Photo
	index   []int             // of the photos, in the order they were sent
	ids     map[string]string // by name
	refused []finding
}

func newSurvey(now time.Time, send func(any) error) *survey {
	return &survey{send: send, parts: map[string]*surveyPart{}, now: now}
}

func (s *survey) close() {
	for _, part := range s.parts {
		part.checker.Close()
	}
}

// part is the part of a name.
func (s *survey) part(name string) *surveyPart {
	part := s.parts[name]
	if part == nil {
		part = &surveyPart{checker: preflight.New(preflight.Options{SkipDuplicates: true, Now: s.now}), ids: map[string]string{}}
		s.parts[name] = part
	}
	return part
}

// add takes a photo that the check has seen. Without a position it is not drawn.
func (s *survey) add(part *surveyPart, p photo) error {
	part.ids[p.name] = p.id
	if !p.HasPosition {
		return nil
	}
	part.photos = append(part.photos, track.Photo{Name: p.name, Lon: p.Longitude, Lat: p.Latitude, Taken: p.Acquired, Group: p.group})
	part.index = append(part.index, s.sent)
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

// offsets is the ground in units of 1e-7 degrees from the photo.
func offsets(p photo) []int {
	var list []int
	for i, corner := range p.ground {
		if i == len(p.ground)-1 && corner == p.ground[0] {
			break
		}
		list = append(list, int(math.Round(math.Remainder(corner[0]-p.Longitude, 360)*1e7)), int(math.Round((corner[1]-p.Latitude)*1e7)))
	}
	return list
}

// flush sends the photos that were added.
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

// finding is a problem of the check, or a gap.
type finding struct {
	preflight.Problem
	Photo string `json:"photo,omitempty"` // id on the map
}

// gapLine is where photos are missing.
type gapLine struct {
	At      [4]float64 `json:"at"` // longitude and latitude of both ends
	Message string     `json:"message"`
}

// surveyResult is what is known once all photos were added.
type surveyResult struct {
	Kind     string    `json:"kind"`
	Lines    [][]int   `json:"lines"` // photos, in the order they were sent
	Gaps     []gapLine `json:"gaps"`
	Problems []finding `json:"problems"`
	Text     string    `json:"text"`

	reports    []*preflight.Report // of the parts
	counts     []preflight.Count
	positioned int
}

// finish ends the survey.
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

// finish adds what is known of a part.
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
		r.Problems = append(r.Problems, finding{preflight.Problem{Code: "gap", Severity: preflight.Warning, Name: name, Message: g.Message,
			Hint: "were photos left on the card, or is this part to be flown again?"}, part.ids[name]})
	}
	if len(gaps) > 0 {
		r.counts = append(r.counts, preflight.Count{Code: "gap", Severity: preflight.Warning, Count: len(gaps)})
	}
}

// mostArea is more than a survey covers, in square metres: photos of several
// places are no area.
const mostArea = 1e10

// images, time and area are those of all parts; area is 0 when it is not known.
func (r *surveyResult) images() (n int) {
	for _, report := range r.reports {
		n += report.Images
	}
	return n
}

func (r *surveyResult) time() (first, last time.Time) {
	for _, report := range r.reports {
		if report.First.IsZero() {
			continue
		}
		if first.IsZero() || report.First.Before(first) {
			first = report.First
		}
		if report.Last.After(last) {
			last = report.Last
		}
	}
	return first, last
}

func (r *surveyResult) area() (squareMetres float64) {
	for _, report := range r.reports {
		squareMetres += report.Area
	}
	if squareMetres > mostArea {
		return 0
	}
	return squareMetres
}

// summary is one line about the survey: how many photos, when, how much ground.
func (r *surveyResult) summary(zone *time.Location) string {
	if r.images() == 0 {
		return "no photos"
	}
	parts := []string{count(r.images(), "photo")}
	if without := r.images() - r.positioned; without > 0 {
		parts = append(parts, number(without)+" without a position")
	}
	if first, last := r.time(); !first.IsZero() {
		parts = append(parts, span(first, last, zone))
	}
	if area := r.area(); area > 0 {
		parts = append(parts, "about "+surface(area))
	}
	if n := len(r.Gaps); n > 0 {
		parts = append(parts, count(n, "gap"))
	}
	return strings.Join(parts, " · ")
}

// span is a time from a first to a last moment.
func span(first, last time.Time, zone *time.Location) string {
	first, last = first.In(zone), last.In(zone)
	if first.Truncate(time.Minute).Equal(last.Truncate(time.Minute)) {
		return first.Format("2006-01-02 15:04:05") + "–" + last.Format("15:04:05")
	}
	if first.Format(time.DateOnly) == last.Format(time.DateOnly) {
		return first.Format("2006-01-02 15:04") + "–" + last.Format("15:04")
	}
	return first.Format("2006-01-02") + " – " + last.Format("2006-01-02")
}

// surface is an area with its unit.
func surface(squareMetres float64) string {
	switch {
	case squareMetres >= 1e6:
		return fmt.Sprintf("%.2f km²", squareMetres/1e6)
	case squareMetres >= 1e4:
		return fmt.Sprintf("%.2f ha", squareMetres/1e4)
	}
	return fmt.Sprintf("%.0f m²", squareMetres)
}
