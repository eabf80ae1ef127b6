package ingest

import (
	"strings"
	"testing"

	"transect/client/preflight"
)

// A hint is told once, after the last of the findings that it is for.
func TestHintsOfFindings(t *testing.T) {
	report := &preflight.Report{}
	add := func(name, message, hint string) {
		report.Problems = append(report.Problems, preflight.Problem{Code: "left-out", Severity: preflight.Warning, Name: name,
			Message: message, Hint: hint})
	}
	add("a.shp", "is incomplete", "copy a.dbf")
	add("b.shp", "is incomplete", "copy b.dbf")
	add("c.xyz", "is unknown", "name its kind")
	add("d.abc", "is strange", "name its kind")
	for i := range maxFindings {
		report.Problems = append(report.Problems, preflight.Problem{Code: string(rune('a' + i/2)), Severity: preflight.Warning,
			Message: strings.Repeat("x", i+1), Hint: "hint " + string(rune('a'+i/2))})
	}
	var b strings.Builder
	writeFindings(&b, report)
	const want = `  warning: a.shp: is incomplete
    hint: copy a.dbf
  warning: b.shp: is incomplete
    hint: copy b.dbf
  warning: c.xyz: is unknown
  warning: d.abc: is strange
    hint: name its kind
`
	if got := b.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
	if got := b.String(); strings.Count(got, "hint: hint ") != (maxFindings-4)/2 {
		t.Errorf("got\n%s", got)
	}
}
