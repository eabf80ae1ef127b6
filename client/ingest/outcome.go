package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"transect/client/fault"
	"transect/client/files"
	"transect/client/scan"
	"transect/client/verdict"
)

// Outcome is the result for one item: a file with its sidecar files.
type Outcome struct {
	Name      string          `json:"name"`            // path within the source
	Title     string          `json:"title,omitempty"` // of the dataset
	Path      string          `json:"path"`            // of the main file
	Size      int64           `json:"size"`            // bytes of all its files
	Verdict   verdict.Verdict `json:"verdict"`
	Sent      bool            `json:"sent,omitempty"`    // by this run
	Resumed   bool            `json:"resumed,omitempty"` // sent to a dataset of an earlier run
	Pending   bool            `json:"pending,omitempty"` // on the platform, but not read by it yet
	Kind      string          `json:"kind,omitempty"`
	Dataset   string          `json:"dataset,omitempty"`
	Component string          `json:"component,omitempty"` // of the main file
	MD5       string          `json:"md5,omitempty"`       // of the main file, where known
	Cause     string          `json:"cause,omitempty"`     // of a failure, or a remark
	Hint      string          `json:"hint,omitempty"`
	Key       string          `json:"key,omitempty"`
	// PathEncoded is the path percent-encoded, where it is not valid UTF-8. Only
	// reports have it; in memory Path is exact.
	PathEncoded string `json:"path_encoded,omitempty"`
	Files       []Part `json:"files,omitempty"` // when there are several

	err error
}

// Part is one of several files of an item.
type Part struct {
	Component   string `json:"component"`
	Path        string `json:"path"`
	Size        int64  `json:"size"`
	MD5         string `json:"md5,omitempty"`
	PathEncoded string `json:"path_encoded,omitempty"` // as in an outcome
}

// Err returns the error of a failed outcome of this process, or nil.
func (o Outcome) Err() error { return o.err }

// uploadOperation is the operation that sends files.
const uploadOperation = "datasets.upload_file"

func (o *Outcome) fail(err error) {
	o.Verdict, o.Cause, o.err = verdict.Failed, err.Error(), err
	if f := fault.Find(err); f != nil {
		o.Hint = f.Facts().Hint
		o.Cause = strings.TrimPrefix(o.Cause, uploadOperation+": ") // redundant here
	}
}

// skippedOutcome returns the outcome of a file that the scan left out.
func skippedOutcome(s *scan.Skipped) Outcome {
	return Outcome{Name: s.Name, Path: absolute(s.Path), Verdict: s.Verdict(), Cause: s.Why(), Hint: s.Hint(), err: s}
}

// parts returns the files of an outcome, one at least.
func (o Outcome) parts() []Part {
	if len(o.Files) > 0 {
		return o.Files
	}
	return []Part{{Component: o.Component, Path: o.Path, Size: o.Size, MD5: o.MD5}}
}

// item returns an outcome's item, sufficient to upload it again.
func (o Outcome) item() *item {
	it := &item{key: o.Key, title: o.Title, dataset: o.Dataset}
	it.Kind, it.Name = o.Kind, o.Name
	for _, p := range o.parts() {
		it.Members = append(it.Members,
			scan.Member{File: scan.File{Path: p.Path, Name: o.Name, Size: p.Size}, Component: p.Component})
	}
	return it
}

// outcomeOf describes the files of an item.
func outcomeOf(it scan.Item) Outcome {
	main := it.Members[0]
	o := Outcome{Name: it.Name, Path: absolute(main.Path), Size: it.Size(), Kind: it.Kind, Component: main.Component}
	if len(it.Members) > 1 {
		for _, m := range it.Members {
			o.Files = append(o.Files, Part{Component: m.Component, Path: absolute(m.Path), Size: m.Size})
		}
	}
	return o
}

// result returns the outcome of an item that did not fail.
func (it *item) result() Outcome {
	o := outcomeOf(it.Item)
	o.Verdict, o.Dataset, o.Key, o.Cause, o.Hint, o.Title = it.verdict, it.dataset, it.key, it.remark, it.hint, it.title
	o.Sent, o.Resumed, o.Pending = it.sent, it.sent && it.resumed, it.pending
	if len(it.md5s) > 0 {
		o.MD5 = it.md5s[0]
		for i := range o.Files {
			o.Files[i].MD5 = it.md5s[i]
		}
	}
	return o
}

func (it *item) failed(err error) Outcome {
	o := outcomeOf(it.Item)
	o.Dataset, o.Key = it.dataset, it.key
	o.fail(err)
	return o
}

// sourceError replaces the error of an item whose file disappeared, perhaps with its memory card.
func (it *item) sourceError(tree files.Tree, err error) error {
	for _, m := range it.Members {
		if _, missing := tree.Stat(m.Path); errors.Is(missing, fs.ErrNotExist) {
			return fault.Hinted(fault.Of(&fault.FileError{}, "%s disappeared after this run had found it", m.Path),
				"check its card or disk, reconnect it, and run again")
		}
	}
	return err
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// File names can be any bytes, but reports are text. They show a path that is not valid UTF-8 with
// %E9 in place of the offending bytes, and path_encoded holds it exactly, percent-encoded as in a
// URL.

// encodePath returns the percent-encoded form of a path that a report cannot hold unchanged; "" for all others.
func encodePath(path string) string {
	// A CSV reader drops the carriage return at the end of a line.
	if utf8.ValidString(path) && !strings.Contains(path, "\r") {
		return ""
	}
	return scan.Escape(path, func(r rune) bool { return r == '%' || r < ' ' })
}

// encoded returns an outcome in the form for the log and reports.
func (o Outcome) encoded() Outcome {
	o.PathEncoded = encodePath(o.Path)
	for _, text := range []*string{&o.Name, &o.Title, &o.Path, &o.Cause, &o.Hint} {
		*text = scan.Readable(*text)
	}
	parts := o.Files
	o.Files = nil
	for _, p := range parts {
		p.PathEncoded = encodePath(p.Path)
		p.Path = scan.Readable(p.Path)
		o.Files = append(o.Files, p)
	}
	return o
}

// decode restores the paths of an outcome from a log or report.
func (o *Outcome) decode() error {
	err := decodePath(&o.Path, &o.PathEncoded)
	for i := range o.Files {
		err = errors.Join(err, decodePath(&o.Files[i].Path, &o.Files[i].PathEncoded))
	}
	return err
}

func decodePath(path, encoded *string) error {
	if *encoded == "" {
		return nil
	}
	exact, err := url.PathUnescape(*encoded)
	if err != nil {
		return fmt.Errorf("path_encoded of %s: %w", *path, err)
	}
	*path, *encoded = exact, ""
	return nil
}

// note keeps the first outcomes that a result lists.
func (r *run) note(o Outcome) {
	if len(r.notes) < MaxFailures {
		r.notes = append(r.notes, o)
	}
}

// skip records an item that is already on the platform.
func (r *run) skip(it *item, v verdict.Verdict, dataset, remark string) error {
	it.verdict, it.dataset, it.remark = v, dataset, remark
	return r.record(it.result())
}

// record counts an outcome, writes it to the log and passes it to OnOutcome.
func (r *run) record(o Outcome) error {
	p := r.options.Progress
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.counts.Of(o.Verdict)++
	if _, skipped := o.err.(*scan.Skipped); !skipped {
		r.reached++
	}
	if o.Pending {
		r.pending++
	}
	switch {
	case o.Verdict.Bad():
		p.Failed.Add(1)
		if o.Verdict == verdict.Failed && fault.Transient(o.err) {
			r.temporary++
		}
		if len(r.failures) < MaxFailures {
			r.failures = append(r.failures, o)
		}
	case o.Verdict == verdict.LeftOut:
		if s, ok := o.err.(*scan.Skipped); ok && !s.Harmless() {
			r.note(o)
		}
	default:
		changed := o.Verdict == verdict.Uploaded && o.Cause != "" && !r.options.DryRun
		if o.Verdict == verdict.Duplicate || changed {
			r.note(o)
		}
		p.DoneFiles.Add(1)
		if !o.Sent {
			p.DoneBytes.Add(o.Size)
		}
	}
	if err := r.outcomes.add(o); err != nil {
		return withOperation(err)
	}
	if r.options.OnOutcome != nil {
		return r.options.OnOutcome(o)
	}
	return nil
}
