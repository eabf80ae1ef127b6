package ingest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/ingest"
	"transect/client/scan"
	"transect/client/verdict"
	"transect/runtime/vm"
)

// localURL is the address of the local platform.
const localURL = "http://transect.local"

// maxListed is how many files of a kind a summary lists.
const maxListed = 20

// summary formats the result of an ingest, for people or as JSON.
type summary struct {
	*ingest.Result
	url     string
	dryRun  bool
	stopped bool   // before its end
	report  string // its file, or ""
	command string // repeats the ingest, or ""
}

// print writes the summary to the error stream, unless it is to be quiet.
func (s summary) print(o vm.Options) {
	var text string
	switch o.Progress {
	case vm.ProgressQuiet:
		return
	case vm.ProgressJSON:
		text = s.json()
	default:
		if o.Log.JSON {
			text = s.json()
		} else {
			text = s.text()
		}
	}
	_, _ = io.WriteString(o.Stderr, text) // a summary that cannot be printed does not fail the ingest
}

// text formats the summary; "" for an ingest that failed before it found a file: the error is enough.
func (s summary) text() string {
	if s.stopped && s.Counts == (verdict.Counts{}) && s.NotReached == 0 {
		return ""
	}
	var b strings.Builder
	head := "ingest into "
	switch {
	case s.dryRun:
		head = "dry run, nothing was sent; ingest into "
	case s.whole():
	case s.stopped && s.Counts.Bytes <= 0 && s.Counts.Uploaded == 0:
		head = "the ingest stopped before a file was sent whole: "
	case s.stopped:
		head = "the ingest stopped before its end; what it did stays: "
	}
	fmt.Fprintf(&b, "%s%s:\n  %s\n", head, s.target(), s.figures())
	b.WriteString(s.check() + s.leftOut())
	if s.Verified > 0 {
		fmt.Fprintf(&b, "  verified: the platform has %s with the same checksum\n", human.Count(s.Verified, "file"))
	}
	s.list(&b, s.Failures, s.Counts.Bad())
	b.WriteString(s.findings())
	if s.Pending > 0 {
		fmt.Fprintf(&b, "  the platform has yet to read %s: run again to see whether it can\n",
			human.Count(s.Pending, "file"))
	}
	switch {
	case s.command == "" || s.dryRun:
	case s.stopped || s.Temporary > 0:
		fmt.Fprintf(&b, "to try again: %s\n", s.command)
	case s.Bad() > 0: // the same files would fail the same way
		fmt.Fprintf(&b, "once they are fixed: %s\n", s.command)
	}
	return b.String()
}

// whole reports whether every file has its verdict, so that a later step failed, such as writing the report.
func (s summary) whole() bool {
	return s.NotReached == 0 && s.Pending == 0 && s.Counts.Total() > 0
}

// target names the platform, project and mission of the files.
func (s summary) target() string {
	target := s.url
	if target == localURL {
		target = "the local platform"
	}
	for _, part := range [][3]string{{"company", "", s.Target.Company}, {"project", s.Project, s.Target.Project},
		{"mission", s.Mission, s.Target.Mission}} {
		if name := cmp.Or(part[1], part[2]); name != "" && !(part[0] == "company" && s.Target.Project != "") {
			target += ", " + part[0] + " " + name
		}
	}
	return target
}

// figures formats the counts by verdict, bytes, duration and rate.
func (s summary) figures() string {
	var parts []string
	for _, v := range verdict.All {
		if n := *s.Counts.Of(v); n > 0 {
			would := ""
			if s.dryRun && v == verdict.Uploaded {
				would = "would be "
			}
			parts = append(parts, human.Number(n)+" "+would+v.Text())
		}
	}
	if s.NotReached > 0 {
		parts = append(parts, human.Number(s.NotReached)+" not finished")
	}
	if len(parts) == 0 {
		parts = append(parts, "no files to send")
	}
	took := time.Duration(s.Seconds * float64(time.Second))
	text := strings.Join(parts, ", ")
	if s.dryRun {
		return text
	}
	if s.Counts.Bytes <= 0 && s.stopped && !s.whole() {
		return text + "; after " + human.Duration(took)
	}
	if s.Counts.Bytes <= 0 {
		return text + "; nothing sent, " + human.Duration(took)
	}
	text += fmt.Sprintf("; %s sent in %s", human.Size(s.Counts.Bytes), human.Duration(took))
	if moving := s.Moving.Seconds(); moving >= 1 {
		text += fmt.Sprintf(", %s/s", human.Size(int64(float64(s.Counts.Bytes)/moving)))
	}
	return text
}

// check describes how the files that were not already there were checked.
func (s summary) check() string {
	p := s.Preflight
	switch {
	case p == nil || p.Checked == 0:
		return ""
	case !p.Deep:
		return fmt.Sprintf("  checked: header and end of %s\n", human.Count(int64(p.Checked), "file"))
	}
	text := fmt.Sprintf("  checked deep: all pixels of %s", human.Count(int64(p.Decoded), "file"))
	if rest := p.Checked - p.Decoded; rest > 0 {
		text += fmt.Sprintf(", header and end of %s more", human.Number(int64(rest)))
	}
	return text + "\n"
}

// leftOut counts the files that were left out, by reason.
func (s summary) leftOut() string {
	p := s.Preflight
	if p == nil || s.Counts.LeftOut == 0 {
		return ""
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(p.BySkipped)) {
		if (&scan.Skipped{Reason: scan.Reason(reason)}).Verdict() == verdict.LeftOut {
			parts = append(parts, human.Number(p.BySkipped[reason])+" "+reason)
		}
	}
	return "  left out: " + strings.Join(parts, ", ") + "\n"
}

// list writes the first files of a list, and where to find the rest; total is their number unless 0. A hint follows
// the files it applies to.
func (s summary) list(b *strings.Builder, list []ingest.Outcome, total int64) {
	shown := slices.Clone(list[:min(len(list), maxListed)])
	first := map[string]int{}
	for i, o := range shown {
		if _, ok := first[hintOf(o)]; !ok {
			first[hintOf(o)] = i
		}
	}
	slices.SortStableFunc(shown, func(x, y ingest.Outcome) int { return first[hintOf(x)] - first[hintOf(y)] })
	for i, o := range shown {
		fmt.Fprintf(b, "  %s: %s", o.Verdict.Text(), o.Name)
		if o.Cause != "" {
			b.WriteString(": " + o.Cause)
		}
		b.WriteString("\n")
		if hint := hintOf(o); hint != "" && (i+1 == len(shown) || hintOf(shown[i+1]) != hint) {
			fmt.Fprintf(b, "    hint: %s\n", hint)
		}
	}
	if rest := max(total, int64(len(list))) - int64(len(shown)); rest > 0 {
		fmt.Fprintf(b, "  and %s more, listed in %s\n", human.Number(rest), cmp.Or(s.report, s.Outcomes.Path()))
	}
}

// hintOf returns the hint for a file that failed.
func hintOf(o ingest.Outcome) string {
	if !o.Verdict.Bad() {
		return ""
	}
	return fault.WithoutAttempts(o.Hint)
}

// Line is the line of --log-format json that sums up an ingest.
type Line struct {
	Type     string `json:"type" jsonschema:"ingest"`
	Ingest   string `json:"ingest" jsonschema:"id of the ingest"`
	Platform string `json:"platform"`
	Project  string `json:"project,omitempty"`
	Mission  string `json:"mission,omitempty"`
	verdict.Counts
	Check      string           `json:"check,omitempty"` // of Checked files
	Checked    int              `json:"checked,omitempty"`
	Decoded    int              `json:"decoded,omitempty"`
	NotReached int64            `json:"not_reached,omitempty"`
	Pending    int64            `json:"pending,omitempty"`
	Seconds    float64          `json:"seconds"`
	DryRun     bool             `json:"dry_run,omitempty"`
	Stopped    bool             `json:"stopped,omitempty"`
	Failures   []ingest.Outcome `json:"failures,omitempty"`
	Command    string           `json:"command,omitempty"`
}

// json formats the summary as one JSON line.
func (s summary) json() string {
	var (
		check            string
		checked, decoded int
	)
	if p := s.Preflight; p != nil && p.Checked > 0 {
		check, checked, decoded = p.Depth(), p.Checked, p.Decoded
	}
	data, err := json.Marshal(Line{"ingest", s.ID, s.url, cmp.Or(s.Project, s.Target.Project),
		cmp.Or(s.Mission, s.Target.Mission), s.Counts, check, checked, decoded, s.NotReached, s.Pending, s.Seconds,
		s.dryRun, s.stopped, s.Failures[:min(len(s.Failures), maxListed)], s.command})
	if err != nil {
		return ""
	}
	return string(data) + "\n"
}
