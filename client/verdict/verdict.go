// Package verdict defines the outcomes of ingesting a file. The words are the same in results,
// reports, exit codes, the history of runs and comparisons; client/preflight determines some of
// them, client/ingest the others.
package verdict

import "strings"

// Verdict is the outcome for a file, or for the files that form one dataset.
type Verdict string

// The verdicts.
const (
	Uploaded     Verdict = "uploaded"      // by this run
	AlreadyThere Verdict = "already_there" // the platform had it before
	Refused      Verdict = "refused"       // uploaded now or before, but the platform could not read it
	Damaged      Verdict = "damaged"       // according to the check of the files
	Incomplete   Verdict = "incomplete"    // files that belong to it are missing
	Duplicate    Verdict = "duplicate"     // another file of the run, or a dataset of the target, has the same content
	LeftOut      Verdict = "left_out"      // not meant to be sent, e.g. a hidden file
	Failed       Verdict = "failed"        // could not be read or sent
)

// All lists the verdicts in display order.
var All = []Verdict{Uploaded, AlreadyThere, Refused, Damaged, Incomplete, Duplicate, LeftOut, Failed}

// Bad reports whether the file needs attention: it makes exit code 3.
func (v Verdict) Bad() bool {
	return v == Refused || v == Damaged || v == Incomplete || v == Failed
}

// Text returns the verdict in the form shown to users.
func (v Verdict) Text() string {
	if v == Refused {
		return "refused by the platform"
	}
	return strings.ReplaceAll(string(v), "_", " ")
}

// Counts are numbers of files by verdict, files that form one dataset counted as one, and bytes.
type Counts struct {
	Uploaded     int64 `json:"uploaded"`
	AlreadyThere int64 `json:"already_there"`
	Refused      int64 `json:"refused"`
	Damaged      int64 `json:"damaged"`
	Incomplete   int64 `json:"incomplete"`
	Duplicate    int64 `json:"duplicate"`
	LeftOut      int64 `json:"left_out"`
	Failed       int64 `json:"failed"`
	Bytes        int64 `json:"bytes"` // sent by this run
}

// Of returns the counter of a verdict.
func (c *Counts) Of(v Verdict) *int64 {
	switch v {
	case Uploaded:
		return &c.Uploaded
	case AlreadyThere:
		return &c.AlreadyThere
	case Refused:
		return &c.Refused
	case Damaged:
		return &c.Damaged
	case Incomplete:
		return &c.Incomplete
	case Duplicate:
		return &c.Duplicate
	case LeftOut:
		return &c.LeftOut
	}
	return &c.Failed
}

// Total returns the number of files except those left out.
func (c Counts) Total() int64 {
	return c.Uploaded + c.AlreadyThere + c.Duplicate + c.Bad()
}

// Bad returns the number of files that need attention.
func (c Counts) Bad() int64 { return c.Refused + c.Damaged + c.Incomplete + c.Failed }
