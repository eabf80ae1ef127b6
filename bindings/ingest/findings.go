package ingest

import (
	"fmt"
	"slices"
	"strings"

	"transect/client/human"
	"transect/client/preflight"
)

// Limits of the findings in a summary: lines, lines per kind of finding, and characters of names per line.
const (
	maxFindings = 20
	maxOfKind   = 5
	maxNames    = 400
)

// finding is a problem of some files, or of the survey.
type finding struct {
	preflight.Problem
	names []string
}

// findings lists notes on files that were sent, and problems of the survey.
func (s summary) findings() string {
	var b strings.Builder
	if s.list(&b, s.Notes, 0); s.Preflight != nil {
		writeFindings(&b, s.Preflight)
	}
	return b.String()
}

// writeFindings writes findings that do not affect the verdict of a file, errors first. Files with the same
// finding share it.
func writeFindings(b *strings.Builder, report *preflight.Report) {
	kinds, written := groups(report), 0
	for _, kind := range kinds {
		shown, few := 0, kind[:min(len(kind), maxOfKind, maxFindings-written)]
		for i, f := range few {
			f.write(b, i+1 == len(few) || few[i+1].Hint != f.Hint)
			shown, written = shown+len(f.names), written+1
		}
		if rest := report.Count(kind[0].Code) - shown; rest > 0 {
			fmt.Fprintf(b, "  and %s more of %s\n", human.Number(rest), kind[0].Code)
		}
	}
}

// groups sorts the problems of a report that do not affect a file's verdict, by code, message and hint.
func groups(report *preflight.Report) (kinds [][]*finding) {
	byMessage := map[string]*finding{}
	for _, p := range report.Problems {
		if p.Verdict != "" {
			continue
		}
		if n := len(kinds); n == 0 || kinds[n-1][0].Code != p.Code {
			kinds = append(kinds, nil)
		}
		f := byMessage[p.Code+p.Message+p.Hint]
		if f == nil {
			f = &finding{Problem: p}
			byMessage[p.Code+p.Message+p.Hint] = f
			last := len(kinds) - 1
			kinds[last] = append(kinds[last], f)
		}
		f.names = append(f.names, p.Name)
	}
	for _, kind := range kinds {
		slices.SortStableFunc(kind, func(x, y *finding) int { return len(y.names) - len(x.names) })
	}
	return kinds
}

// write writes a finding, with its hint if no other one of the same hint follows.
func (f *finding) write(b *strings.Builder, last bool) {
	switch {
	case f.names[0] == "":
		fmt.Fprintf(b, "  %s: %s\n", f.Severity, human.Line(f.Message))
	case len(f.names) == 1:
		fmt.Fprintf(b, "  %s: %s: %s\n", f.Severity, human.Line(f.Name), human.Line(f.Message))
	default:
		fmt.Fprintf(b, "  %s: %s: %s\n    %s\n", f.Severity, human.Count(len(f.names), "file"), human.Line(f.Message),
			someOf(f.names))
	}
	if f.Hint != "" && last {
		fmt.Fprintf(b, "    hint: %s\n", f.Hint)
	}
}

// someOf joins the names that fit into maxNames, and counts the rest.
func someOf(names []string) string {
	text := human.Line(names[0])
	for i, name := range names[1:] {
		if len(text)+len(name) > maxNames {
			return fmt.Sprintf("%s and %s more", text, human.Number(len(names)-1-i))
		}
		text += ", " + human.Line(name)
	}
	return text
}
