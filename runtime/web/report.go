package web

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strings"

	"transect/client"
	"transect/client/geodesic"
	"transect/client/human"
)

// flightReport is one or two pages for print: the positions of the photos, their number, dates, gaps and
// damage.
type flightReport struct {
	Title    string
	Of       string // project, or folder
	Plan     *drawing
	Photos   int
	Facts    []fact
	Findings []finding
	More     int
	Lines    int
	Back     string
}

const maxReported = 60 // findings in print

// reportPage sends the report of a mission or a project on the platform.
func (s *Server) reportPage(w http.ResponseWriter, r *http.Request, _ *client.Client) error {
	ctx, t := r.Context(), targetOf(r.URL.Query())
	v := flightReport{Title: "All photos", Back: "/map" + t.query()}
	project := t.Project
	switch {
	case t.Mission != "":
		m, err := onlyRecord(s.Client.Missions.Describe(ctx, client.Refs{IDs: client.IDs{t.Mission}}))
		if err != nil {
			return err
		}
		v.Title, project = cmp.Or(m.Name, m.ID), m.Project
		fallthrough
	case t.Project != "":
		p, err := onlyRecord(s.Client.Projects.Describe(ctx, client.Refs{IDs: client.IDs{project}}))
		if err != nil {
			return err
		}
		if t.Mission == "" {
			v.Title = cmp.Or(p.Name, p.ID)
		} else {
			v.Of = cmp.Or(p.Name, p.ID)
		}
	}
	var pages []photoPage
	result, more, err := s.photosOf(ctx, t.filter(), collect(&pages))
	if err != nil {
		return err
	}
	if more {
		v.Facts = append(v.Facts, fact{"Limit", "only the first " + human.Number(maxPhotos) + " photos are counted"})
	}
	s.fillReport(&v, pages, result)
	return s.render(w, r, "report.html", view{Title: "Flight report " + v.Title, Section: "/map", Data: v})
}

// collect returns a function that appends pages of photos.
func collect(pages *[]photoPage) func(any) error {
	return func(v any) error {
		if page, ok := v.(photoPage); ok {
			*pages = append(*pages, page)
		}
		return nil
	}
}

// folderReport sends the report of the folder.
func (s *Server) folderReport(w http.ResponseWriter, r *http.Request) error {
	s.folder.wait(r.Context())
	state := s.folder.state()
	if state.Result == nil {
		return cmp.Or(state.Err, r.Context().Err())
	}
	v := flightReport{Title: filepath.Base(absolutePath(s.Folder)), Of: absolutePath(s.Folder), Back: "/folder"}
	folder := s.folderView(r.Context(), state, "")
	for _, n := range folder.Labels {
		v.Facts = append(v.Facts, fact{strings.ToUpper(n.Label[:1]) + n.Label[1:], human.Count(n.Count, "file")})
	}
	var pages []photoPage
	if err := s.sendPhotos(state, nil, collect(&pages)); err != nil {
		return err
	}
	s.fillReport(&v, pages, state.Result)
	return s.render(w, r, "report.html", view{Title: "Flight report " + v.Title, Section: "/folder", Data: v})
}

func (s *Server) fillReport(v *flightReport, pages []photoPage, result *surveyResult) {
	zone := s.Now().Location()
	v.Photos, v.Lines = result.images(), len(result.Lines)
	add := func(label, value string) { v.Facts = append(v.Facts, fact{label, value}) }
	add("Photos", human.Number(result.images()))
	if without := result.images() - result.positioned; without > 0 {
		add("Without a position", human.Number(without))
	}
	if first, last := result.time(); !first.IsZero() {
		add("Taken", span(first, last, zone)+" "+first.In(zone).Format("MST"))
		add("From first to last", human.Duration(last.Sub(first)))
	}
	if area := result.area(); area > 0 {
		add("Ground covered", "about "+surface(area))
	}
	add("Flight lines", human.Number(len(result.Lines)))
	add("Gaps", human.Number(len(result.Gaps)))
	v.Findings = result.Problems
	total := 0
	for _, c := range result.counts {
		total += c.Count
	}
	if len(v.Findings) > maxReported {
		v.Findings = v.Findings[:maxReported]
	}
	v.More = max(0, total-len(v.Findings))
	v.Plan = draw(markStates(pages, result), result)
}

// markStates sets the states of photos that follow from the findings.
func markStates(pages []photoPage, result *surveyResult) []photoPage {
	worst := map[string]int{}
	for _, f := range result.Problems {
		if f.Code == "gap" || f.Photo == "" {
			continue
		}
		state := photoWarning
		if f.Severity == "error" {
			state = photoBad
		}
		worst[f.Photo] = max(worst[f.Photo], state)
	}
	for _, p := range pages {
		for i, id := range p.ID {
			p.State[i] = max(p.State[i], worst[id])
		}
	}
	return pages
}

// drawing is a survey for print, as SVG paths in pixels.
type drawing struct {
	Width, Height int
	Photos        [4]string // by state
	Lines, Gaps   string
	Ground        string
	Grid          string
	Bar           string
	BarText       string
	BarX          int
}

const (
	drawingWidth, drawingHeight = 1000, 620
	drawingMargin               = 40
	maxGrounds                  = 600
)

// draw draws photos and the result of their check; nil without a position.
func draw(pages []photoPage, result *surveyResult) *drawing {
	var lons, lats []float64
	var states []int
	var grounds [][]int
	for _, p := range pages {
		for i := range p.ID {
			lons, lats, states = append(lons, p.At[2*i]), append(lats, p.At[2*i+1]), append(states, p.State[i])
			ring := []int(nil)
			if i < len(p.Ground) {
				ring, _ = p.Ground[i].([]int)
			}
			grounds = append(grounds, ring)
		}
	}
	if len(lons) == 0 {
		return nil
	}
	// Metres from the first photo, which is enough for a survey on paper.
	east, north := geodesic.Degree(lats[0])
	to := func(lon, lat float64) (x, y float64) {
		return math.Remainder(lon-lons[0], 360) * east, (lat - lats[0]) * north
	}
	west, eastEnd, south, northEnd := 0.0, 0.0, 0.0, 0.0
	for i := range lons {
		x, y := to(lons[i], lats[i])
		west, eastEnd, south, northEnd = min(west, x), max(eastEnd, x), min(south, y), max(northEnd, y)
		if len(lons) <= maxGrounds {
			for k := 0; k+1 < len(grounds[i]); k += 2 {
				dx, dy := x+float64(grounds[i][k])*1e-7*east, y+float64(grounds[i][k+1])*1e-7*north
				west, eastEnd, south, northEnd = min(west, dx), max(eastEnd, dx), min(south, dy), max(northEnd, dy)
			}
		}
	}
	scale := min((drawingWidth-2*drawingMargin)/max(eastEnd-west, 20),
		(drawingHeight-2*drawingMargin)/max(northEnd-south, 20))
	place := func(lon, lat float64) (float64, float64) {
		x, y := to(lon, lat)
		return drawingWidth/2 + (x-(west+eastEnd)/2)*scale, drawingHeight/2 - (y-(south+northEnd)/2)*scale
	}
	p := &drawing{Width: drawingWidth, Height: drawingHeight}
	var dots [4]strings.Builder
	for i := range lons {
		x, y := place(lons[i], lats[i])
		r := 3.2
		if states[i] >= photoWarning {
			r = 5
		}
		fmt.Fprintf(&dots[states[i]], "M%.1f %.1fm-%.1f 0a%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 -%.1f 0", x, y, r, r, r,
			2*r, r, r, 2*r)
	}
	for i := range dots {
		p.Photos[i] = dots[i].String()
	}
	var lines, gaps, ground, grid strings.Builder
	for _, line := range result.Lines {
		for k, i := range line {
			if i < len(lons) {
				x, y := place(lons[i], lats[i])
				fmt.Fprintf(&lines, "%c%.1f %.1f", "ML"[min(k, 1)], x, y)
			}
		}
	}
	for _, g := range result.Gaps {
		x, y := place(g.At[0], g.At[1])
		fmt.Fprintf(&gaps, "M%.1f %.1f", x, y)
		x, y = place(g.At[2], g.At[3])
		fmt.Fprintf(&gaps, "L%.1f %.1f", x, y)
	}
	if len(lons) <= maxGrounds {
		for i, ring := range grounds {
			for k := 0; k+1 < len(ring); k += 2 {
				x, y := place(lons[i]+float64(ring[k])*1e-7, lats[i]+float64(ring[k+1])*1e-7)
				fmt.Fprintf(&ground, "%c%.1f %.1f", "ML"[min(k, 1)], x, y)
			}
			if len(ring) > 0 {
				ground.WriteByte('Z')
			}
		}
	}
	step := roundStep(150 / scale)
	for x := math.Ceil((drawingWidth / 2 * -1 / scale) / step); x*step < drawingWidth/2/scale; x++ {
		fmt.Fprintf(&grid, "M%.1f 0V%d", drawingWidth/2+x*step*scale, drawingHeight)
	}
	for y := math.Ceil((drawingHeight / 2 * -1 / scale) / step); y*step < drawingHeight/2/scale; y++ {
		fmt.Fprintf(&grid, "M0 %.1fH%d", drawingHeight/2+y*step*scale, drawingWidth)
	}
	p.Lines, p.Gaps, p.Ground, p.Grid = lines.String(), gaps.String(), ground.String(), grid.String()
	length := step * scale
	p.Bar = fmt.Sprintf("M20 %d v6 h%.1f v-6", drawingHeight-22, length)
	p.BarText, p.BarX = metresText(step), 20+int(length/2)
	return p
}

// roundStep returns the largest of 1, 2, 5, 10 … that is at most metres.
func roundStep(metres float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(metres)))
	for _, n := range []float64{5, 2} {
		if n*power <= metres {
			return n * power
		}
	}
	return power
}

func metresText(metres float64) string {
	if metres >= 1000 {
		return fmt.Sprintf("%g km", metres/1000)
	}
	return fmt.Sprintf("%g m", metres)
}
