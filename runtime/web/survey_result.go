package web

import (
	"fmt"
	"strings"
	"time"

	"transect/client/human"
	"transect/client/preflight"
)

// finding is a problem of the check, or a gap.
type finding struct {
	preflight.Problem
	Photo string `json:"photo,omitempty"` // id on the map
}

// gapLine is a gap in the photos.
type gapLine struct {
	At      [4]float64 `json:"at"` // longitude and latitude of both ends
	Message string     `json:"message"`
}

// surveyResult is the result of the check of all photos.
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

// maxArea is larger than any survey, in square metres: photos of several places have no meaningful area.
const maxArea = 1e10

// images, time and area return totals over all parts; area is 0 when it is not known.
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
	if squareMetres > maxArea {
		return 0
	}
	return squareMetres
}

// summary returns one line about the survey: the number of photos, dates, and the ground.
func (r *surveyResult) summary(zone *time.Location) string {
	if r.images() == 0 {
		return "no photos"
	}
	parts := []string{human.Count(r.images(), "photo")}
	if without := r.images() - r.positioned; without > 0 {
		parts = append(parts, human.Number(without)+" without a position")
	}
	if first, last := r.time(); !first.IsZero() {
		parts = append(parts, span(first, last, zone))
	}
	if area := r.area(); area > 0 {
		parts = append(parts, "about "+surface(area))
	}
	if n := len(r.Gaps); n > 0 {
		parts = append(parts, human.Count(n, "gap"))
	}
	return strings.Join(parts, " · ")
}

// span formats a time from a first to a last moment.
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

// surface formats an area with its unit.
func surface(squareMetres float64) string {
	switch {
	case squareMetres >= 1e6:
		return fmt.Sprintf("%.2f km²", squareMetres/1e6)
	case squareMetres >= 1e4:
		return fmt.Sprintf("%.2f ha", squareMetres/1e4)
	}
	return fmt.Sprintf("%.0f m²", squareMetres)
}
