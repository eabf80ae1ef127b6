// Package ingest brings many files onto the platform: it gathers them, creates
// their datasets in bulk, uploads them side by side, and can be killed and run
// again at any moment.
//
// What makes that safe is a key. Each dataset carries, among its properties,
// the key of the file it was made for (see key.go). A run first reads the keys
// that are there, once, and then does only what is missing: datasets that a
// killed run created, noted or not, are completed, never created again. No
// state on this machine is needed for that.
package ingest

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"time"

	"transect/client"
	"transect/client/fault"
	"transect/client/preflight"
	"transect/client/scan"
)

// Target is where the datasets belong: a company or a project at least.
type Target struct {
	Company string `json:"company,omitempty"`
	Project string `json:"project,omitempty"`
	Mission string `json:"mission,omitempty"`
	Flight  string `json:"flight,omitempty"` // of images
}

// Check says what is looked for in the files before they go.
type Check string

// The checks.
const (
	CheckOff    Check = "off"
	CheckWarn   Check = "warn"   // tell, leave out what cannot be used, go on
	CheckStrict Check = "strict" // look at all files first and send none when one is wrong
)

// Options say what to ingest, and how. Source or Items, and a Target, are needed.
type Options struct {
	Source scan.Source
	// Items are used in place of Source when given.
	Items iter.Seq2[scan.Item, error]
	Target

	Name       func(scan.File) (string, error) // of the dataset; its file's name within the source when nil
	Properties map[string]any                  // of each dataset
	Categories []string
	Hidden     *bool
	Published  *bool
	Extra      map[string]any // further keys of each dataset, as they travel

	Filter    func(scan.File) (bool, error) // false leaves a file out; called for one file at a time
	OnOutcome func(Outcome) error           // called for one outcome at a time

	Check    Check
	Expected int  // number of files there should be; 0 is not checked
	Replace  bool // a changed file goes into the dataset of its earlier state
	DryRun   bool // only find out what would be done
	Verify   bool // compare the checksums on the platform when all is sent
	Wait     bool // until the platform has read what was sent

	Report string // file to write the outcomes to: .json or .csv
	// Folder opens the folder of a file that is written, the report; any when nil.
	Folder func(folder, name string) (*os.Root, error)

	Workers  int    // files sent at a time; 0 follows the connection
	Batch    int    // datasets created by one request at most; 200 when 0
	StateDir string // folder for locks and outcomes; temporary files when empty
	Progress *Progress
	Stop     <-chan struct{} // when closed, the files in hand are finished and no further one is begun; optional
	Logger   *slog.Logger
	Now      func() time.Time
}

// complete finds the project of a mission that is given alone.
func (t *Target) complete(ctx context.Context, c *client.Client) error {
	if t.Mission == "" || t.Project != "" {
		return nil
	}
	m, err := c.Missions.Describe(ctx, client.MissionIDs{Mission: client.IDs{t.Mission}})
	if err == nil {
		t.Project = m.One().Project
	}
	return err
}

const (
	defaultWorkers = 80
	defaultBatch   = 200
	maxBatch       = 500
)

func (o *Options) complete() error {
	if o.Company == "" && o.Project == "" && o.Mission == "" {
		return fault.Hinted(fault.Of(&fault.ParameterError{}, "project or company is missing: the datasets must belong to one"),
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
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	if o.Workers == 0 {
		o.Workers = defaultWorkers
	}
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Check == "" {
		o.Check = CheckWarn
	}
	if o.Folder == nil {
		o.Folder = func(folder, _ string) (*os.Root, error) { return os.OpenRoot(folder) }
	}
	return checkReport(o.Report)
}

// Result is what became of a run.
type Result struct {
	ID        string // of the run
	Counts    Counts
	Failures  []Outcome // the first of them, see MaxFailures
	Preflight *preflight.Report
	Outcomes  *Spool // of every file, on disk
	Seconds   float64
}

// Counts are numbers of datasets, and bytes.
type Counts struct {
	Created int64 `json:"created"` // and sent
	Resumed int64 `json:"resumed"` // begun by an earlier run, and completed
	Skipped int64 `json:"skipped"` // there already
	Failed  int64 `json:"failed"`
	Bytes   int64 `json:"bytes"` // sent by this run
}

// MaxFailures is how many failures a Result lists; Outcomes has them all.
const MaxFailures = 100

// Run ingests. Failures of single files are outcomes, not errors. An error
// says that the run stopped: credentials refused, platform unreachable or full,
// a callback that failed, the end of ctx. What was done until then stays done,
// and running again goes on from there; the Result, when not nil, says how far
// it came.
func Run(ctx context.Context, c *client.Client, o Options) (*Result, error) {
	if err := o.complete(); err != nil {
		return nil, err
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
	return r.whole(ctx)
}

type (
	item = scan.Item
	file = scan.File
)
