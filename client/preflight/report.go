package preflight

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"transect/client/formats/imagery"
	"transect/client/scan"
	"transect/client/verdict"
)

// Severities. An error means that a file is unusable; a warning, that it needs a look.
const (
	Error   = "error"
	Warning = "warning"
)

// Problem is one problem found.
type Problem struct {
	Code     string `json:"code"`
	Severity string `json:"severity"` // Error or Warning
	Name     string `json:"name"`     // of the file, "" for the survey as a whole
	Message  string `json:"message"`  // without the name
	Hint     string `json:"hint"`     // the remedy, or ""
	// Verdict is the file's verdict in a run, "" when the problem does not decide it.
	Verdict verdict.Verdict `json:"verdict,omitempty"`
}

// verdicts are the verdicts of problems that decide about a file, by code.
var verdicts = map[string]verdict.Verdict{
	"truncated": verdict.Damaged, "damaged": verdict.Damaged, "not-an-image": verdict.Damaged,
	string(scan.Empty): verdict.Damaged,
	"incomplete":       verdict.Incomplete, string(scan.Unfinished): verdict.Incomplete,
	"unreadable": verdict.Failed, string(scan.Missing): verdict.Failed, "broken-link": verdict.Failed,
	"duplicate": verdict.Duplicate, "left-out": verdict.LeftOut,
}

func newProblem(code, severity, name, message, hint string) Problem {
	return Problem{Code: code, Severity: severity, Name: name, Message: message, Hint: hint}
}

// Count is how often a problem was found, including unlisted ones.
type Count struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Count    int    `json:"count"`
}

// Polygon is a GeoJSON geometry.
type Polygon struct {
	Type        string         `json:"type"`
	Coordinates [][][2]float64 `json:"coordinates"`
}

// Report is the result of the checks.
type Report struct {
	Items  int   `json:"items"`
	Files  int   `json:"files"` // number of files to send
	Bytes  int64 `json:"bytes"`
	Images int   `json:"images"`
	// Checked counts the files examined, Decoded those whose pixels were decoded, which only a Deep check does.
	Checked int            `json:"checked"`
	Deep    bool           `json:"deep"`
	Decoded int            `json:"decoded"`
	ByKind  map[string]int `json:"by_kind"` // number of items
	// BySkipped counts skipped files by scan.Reason.
	BySkipped map[string]int `json:"skipped"`
	// First and Last are the times of the earliest and the latest photo, except for wrong clocks;
	// zero when no photo has a time.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	// Footprint estimates the ground that the photos cover, without outliers; nil when none has a
	// position. Area is its area in square metres.
	Footprint *Polygon `json:"footprint,omitempty"`
	Area      float64  `json:"area"`
	// Problems are the first of each code, errors before warnings; Counts has the totals.
	Problems []Problem `json:"problems"`
	Counts   []Count   `json:"counts"`
	Errors   int       `json:"errors"`
	Warnings int       `json:"warnings"`
	// Numbers of files by verdict; files that form one dataset count as one.
	Damaged    int `json:"damaged"`
	Incomplete int `json:"incomplete"`
	Duplicate  int `json:"duplicate"`
	LeftOut    int `json:"left_out"`
	Failed     int `json:"failed"`
}

// tally counts a file by its verdict.
func (r *Report) tally(v verdict.Verdict) {
	switch v {
	case verdict.Damaged:
		r.Damaged++
	case verdict.Incomplete:
		r.Incomplete++
	case verdict.Duplicate:
		r.Duplicate++
	case verdict.LeftOut:
		r.LeftOut++
	case verdict.Failed:
		r.Failed++
	}
}

// Undecided counts the errors not specific to one file, such as a band missing from a capture: they
// decide about no file, but need a look.
func (r *Report) Undecided() int64 {
	n := 0
	for _, c := range r.Counts {
		if c.Severity == Error && verdicts[c.Code] == "" {
			n += c.Count
		}
	}
	return int64(n)
}

// Depth returns the depth of the check: quick or deep.
func (r *Report) Depth() string {
	if r.Deep {
		return "deep"
	}
	return "quick"
}

// Count returns how often a problem with a code was found.
func (r *Report) Count(code string) int {
	n := 0
	for _, c := range r.Counts {
		if c.Code == code {
			n += c.Count
		}
	}
	return n
}

func (r *Report) clone() *Report {
	c := *r
	c.ByKind, c.BySkipped = maps.Clone(r.ByKind), maps.Clone(r.BySkipped)
	return &c
}

// problemList keeps the first problems of each code by name, and counts all.
type problemList map[string]problemsOf // by severity and code

type problemsOf struct {
	Count
	list []Problem
}

// maxKept is how many problems of a code are kept before sorting the list and dropping half of them.
const maxKept = 1024

func (l problemList) add(p Problem) {
	p.Verdict = verdicts[p.Code]
	of := l[p.Severity+p.Code]
	of.Code, of.Severity = p.Code, p.Severity
	of.Count.Count++
	if of.list = append(of.list, p); len(of.list) >= maxKept {
		sortProblems(of.list)
		of.list = slices.Clone(of.list[:maxKept/2])
	}
	l[p.Severity+p.Code] = of
}

func sortProblems(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(imagery.NaturalCompare(a.Name, b.Name), cmp.Compare(a.Message, b.Message))
	})
}

func (l problemList) clone() problemList {
	c := maps.Clone(l)
	for key, of := range c {
		of.list = slices.Clone(of.list)
		c[key] = of
	}
	return c
}

// maxListed is the most problems of a code that a report lists.
const maxListed = 20

// list returns the first problems of each code, and all counts: errors first,
// then by code.
func (l problemList) list() ([]Problem, []Count) {
	problems, counts := []Problem{}, []Count{}
	for _, key := range slices.Sorted(maps.Keys(l)) { // "error…" sorts before "warning…"
		list := l[key].list
		sortProblems(list)
		problems = append(problems, list[:min(maxListed, len(list))]...)
		counts = append(counts, l[key].Count)
	}
	return problems, counts
}
