// Package ingest uploads many files to the platform: it creates their datasets
// in bulk, uploads them concurrently, and can be killed and run again at any
// moment.
//
// What makes that safe is a key: each dataset records, among its properties, the
// key of the file it was created for (key.go). A run reads the keys on the
// platform once (index.go) and then does only what is missing: a dataset that a
// killed run created is completed, never created again. No state on this machine
// is needed for that. The decisions are in client/internal/reconcile, the scan of the
// source in client/scan, the check of the files in client/preflight.
//
// Begin at Run below and pipeline.go: scan, inspect, create, upload; then
// finish.go: duplicates, orphans, verification. Every file ends as an Outcome,
// written to a log on disk and to the report.
package ingest

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"transect/client"
	"transect/client/fault"
	"transect/client/preflight"
	"transect/client/scan"
	"transect/client/verdict"
)

// Target is where the datasets are created: a company or a project at least.
type Target struct {
	Company string `json:"company,omitempty"`
	Project string `json:"project,omitempty"`
	Mission string `json:"mission,omitempty"`
	Flight  string `json:"flight,omitempty"` // of images
}

// Check is a mode of checking files.
type Check string

// The checks.
const (
	CheckOff    Check = "off"
	CheckWarn   Check = "warn"   // report problems and continue; Options.Damaged decides about damaged files
	CheckStrict Check = "strict" // check all files first and send none when one has an error
)

// Treatment is the treatment of files that could be sent but need not be.
type Treatment string

// The treatments.
const (
	Skip Treatment = "skip"
	Send Treatment = "send"
)

// Options configure a run. Source or Items, and a Target, are required.
type Options struct {
	Source scan.Source
	Items  iter.Seq2[scan.Item, error] // replaces Source when set
	Target

	Name       func(scan.File) (string, error) // of the dataset; the file's path within the source when nil
	Properties map[string]any                  // of each dataset
	Categories []string
	Hidden     *bool
	Published  *bool
	Extra      map[string]any // further keys of each dataset, sent unchanged

	Filter    func(scan.File) (bool, error) // false leaves a file out; one call at a time
	OnOutcome func(Outcome) error           // one call at a time
	Started   func(id string) error         // called once, before the first file

	Check Check
	Deep  bool // the check decodes whole pictures and rasters, also those already uploaded
	// Damaged files, and incomplete ones, get a bad verdict even when sent; Duplicates are files
	// whose content is on the platform, or sent, under another name. When empty, both are skipped.
	Damaged, Duplicates Treatment
	Expected            int  // expected number of images; 0 is not checked
	Replace             bool // delete the dataset of the previous version of a changed file
	DryRun              bool // only report what would be done
	sends               bool
	Verify              bool // compare the checksums on the platform after the upload
	Wait                bool // until the platform has read the files, while it makes progress
	// Stall is how long to wait for a platform that reads no further file; 10 minutes when 0.
	Stall time.Duration

	Report string // file to write the outcomes to: .json or .csv
	// Folder opens the folder of the report; any folder when nil.
	Folder func(folder, name string) (*os.Root, error)

	Workers  int    // most concurrent uploads; the connection may allow fewer
	Batch    int    // most datasets created by one request; 200 when 0
	PartOf   string // ID of the enclosing run, kept with each dataset; "" for none
	StateDir string // folder for locks and outcomes; temporary files when empty
	Progress *Progress
	Stop     <-chan struct{} // when closed, uploads in flight are finished and no other is begun; optional
	Logger   *slog.Logger
	Now      func() time.Time
}

// complete looks up the project of a mission given without one.
func (t *Target) complete(ctx context.Context, c *client.Client) error {
	if t.Mission == "" || t.Project != "" {
		return nil
	}
	m, err := c.Missions.Describe(ctx, client.Refs{IDs: client.IDs{t.Mission}})
	if err == nil {
		t.Project = m.One().Project
	}
	return err
}

const (
	defaultWorkers = 112
	defaultBatch   = 200
	maxBatch       = 500
)

func (o *Options) complete() error {
	if o.Company == "" && o.Project == "" && o.Mission == "" {
		return fault.Hinted(fault.Of(&fault.ParameterError{},
			"project or company is missing: the datasets must belong to one"),
			"give project, and mission for the images of a survey")
	}
	if o.Items == nil && o.Source.Root == "" && len(o.Source.Paths) == 0 {
		return fault.Of(&fault.ParameterError{}, "there is nothing to ingest: give source or paths")
	}
	if o.Batch < 0 || o.Batch > maxBatch {
		return fault.Of(&fault.ParameterError{}, "batch must be between 1 and %d, got %d", maxBatch, o.Batch)
	}
	if o.Workers < 0 || o.Workers > 1024 {
		return fault.Of(&fault.ParameterError{}, "workers must be between 1 and 1024, got %d", o.Workers)
	}
	o.Batch = cmp.Or(o.Batch, defaultBatch)
	o.Workers = cmp.Or(o.Workers, defaultWorkers)
	o.Check = cmp.Or(o.Check, CheckWarn)
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Folder == nil {
		o.Folder = func(folder, _ string) (*os.Root, error) { return os.OpenRoot(folder) }
	}
	return o.checkReport()
}

func (o *Options) stall() time.Duration { return cmp.Or(o.Stall, stallTimeout) }

// Progress holds the counters of a run; any goroutine may read it.
type Progress struct {
	Files, Bytes         atomic.Int64 // found so far; all of them once Complete
	DoneFiles, DoneBytes atomic.Int64 // uploaded, by this run or before
	Failed               atomic.Int64 // with a bad verdict
	Unread               atomic.Int64 // yet to be read by the platform, while the run waits for that
	Transferred          Sent
	Complete             atomic.Bool // the scan has ended
}

// Sent counts the bytes sent by a run, and the time spent sending them.
type Sent struct{ bytes, last, moving atomic.Int64 }

// pause is the longest gap between bytes that counts as time spent sending.
const pause = 10 * time.Second

// Add counts bytes; a negative number takes them back.
func (s *Sent) Add(delta int64) { s.add(delta, time.Now()) }

func (s *Sent) add(delta int64, at time.Time) {
	s.bytes.Add(delta)
	if last := s.last.Swap(at.UnixNano()); last != 0 {
		s.moving.Add(min(max(0, at.UnixNano()-last), int64(pause)))
	}
}

// Load returns how many bytes were sent.
func (s *Sent) Load() int64 { return s.bytes.Load() }

// Moving returns the time spent sending, without outages, scans and other waits.
func (s *Sent) Moving() time.Duration { return time.Duration(s.moving.Load()) }

// Result is the result of a run.
type Result struct {
	ID         string // of the run
	Target     Target
	Project    string // its name, "" when unknown
	Mission    string // its name
	Counts     verdict.Counts
	Failures   []Outcome // the first MaxFailures with a bad verdict
	Notes      []Outcome // the first duplicates, changed files, and files left out perhaps unintentionally
	Preflight  *preflight.Report
	Outcomes   *OutcomeLog // of every file
	NotReached int64       // files found but not processed, because the run stopped early
	Pending    int64       // files that the platform has not read yet
	Temporary  int64       // failed files that may succeed later, as after an outage
	Verified   int64       // files whose checksums were compared at the end, and match
	Seconds    float64
	Moving     time.Duration // while bytes were sent
}

// Bad returns the number of things that need attention: files with a bad verdict, and errors of the
// check that do not concern a single file.
func (r *Result) Bad() int64 { return r.Counts.Bad() + r.Preflight.Undecided() }

// MaxFailures is how many failures a Result lists; Outcomes has them all.
const MaxFailures = 100

// Run ingests. Failures of single files are verdicts, not errors. An error means that the run
// stopped: credentials refused, platform unreachable or full, a callback failed, ctx ended.
// Uploaded files stay, and another run continues from there; the Result, when not nil, covers the
// work done.
func Run(ctx context.Context, c *client.Client, o Options) (*Result, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if o.sends = !o.DryRun; o.sends && c.Rehearses() {
		o.DryRun = true // its writes become a plan
	}
	unlock, err := lock(o, c.BaseURL())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := o.Target.complete(ctx, c); err != nil {
		return nil, err
	}
	r, err := newRun(c, o)
	if err != nil {
		return nil, err
	}
	if o.Started != nil {
		if err := o.Started(r.id); err != nil {
			return nil, err
		}
	}
	return r.do(ctx)
}
