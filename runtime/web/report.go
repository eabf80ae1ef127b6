package web

import (
	"cmp"
	"net/http"
	"path/filepath"
	"strings"

	"transect/client"
	"transect/client/human"
)

// The flight report is one page or two for print: where the photos lie, how many,
// when, what is missing and what is damaged.
type flightReport struct {
	Title    string
	Of       string // project, or folder
	Plan     *plan
	Photos   int
	Facts    []fact
	Findings []finding
	More     int
	Lines    int
	Back     string
}

const maxReported = 60 // findings on paper

// reportPage is the report of a mission or a project on the platform.
func (s *Server) reportPage(w http.ResponseWriter, r *http.Request) error {
	ctx, t := r.Context(), targetOf(r.URL.Query())
	if _, err := s.platform(); err != nil {
		return err
	}
	v := flightReport{Title: "All photos", Back: "/map" + t.query()}
	project := t.Project
	switch {
	case t.Mission != "":
		m, err := described(s.Client.Missions.Describe(ctx, client.Refs{IDs: client.IDs{t.Mission}}))
		if err != nil {
			return err
		}
		v.Title, project = cmp.Or(m.Name, m.ID), m.Project
		fallthrough
	case t.Project != "":
		p, err := described(s.Client.Projects.Describe(ctx, client.Refs{IDs: client.IDs{project}}))
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

// collect keeps pages of photos.
func collect(pages *[]photoPage) func(any) error {
	return func(v any) error {
		if page, ok := v.(photoPage); ok {
			*pages = append(*pages, page)
		}
		return nil
	}
}

// folderReport is the report of the folder.
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
	v.Plan = planOf(markStates(pages, result), result)
}

// markStates gives photos the states that the findings mean.
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
