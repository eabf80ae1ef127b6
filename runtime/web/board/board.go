// Package board collects what the page of jobs shows: jobs, workers, schedules,
// and the last day at a glance. Package web makes pages of it.
package board

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
)

// Row is a job as lists show it.
type Row struct {
	*jobs.Job
	Now time.Time
}

// Class is the colour of the job's state.
func (r *Row) Class() string { return class(r.State) }

func class(state jobs.State) string {
	switch state {
	case jobs.Running:
		return "busy"
	case jobs.Done:
		return "good"
	case jobs.Retrying, jobs.DoneFailures:
		return "warn"
	case jobs.Failed, jobs.Stopped, jobs.NeedsDecision, jobs.Lost:
		return "bad"
	}
	return ""
}

// Word is the state, with what the job waits for.
func (r *Row) Word() string {
	switch {
	case r.State == jobs.Running && r.Cancelled:
		return "being cancelled"
	case r.Waiting != "" && !r.State.Final():
		return string(r.State) + " for " + r.Waiting
	}
	return string(r.State)
}

// When is the start of the newest attempt, or when the next one is due.
func (r *Row) When() time.Time {
	if r.Started.IsZero() || r.State == jobs.Scheduled || r.State == jobs.Retrying {
		return r.Due
	}
	return r.Started
}

// Took is how long the newest attempt took, or takes; 0 when there is none.
func (r *Row) Took() time.Duration {
	switch {
	case r.Started.IsZero():
		return 0
	case r.State == jobs.Running:
		return max(r.Now.Sub(r.Started), 0).Round(time.Second)
	}
	return max(r.Ended.Sub(r.Started), 0)
}

// Cancellable and Retryable say what can be done to the job.
func (r *Row) Cancellable() bool { return !r.State.Final() && !r.Cancelled }

// Retryable is the other one.
func (r *Row) Retryable() bool { return r.State.Final() && r.State != jobs.Done }

// Count is how many jobs ended in a state.
type Count struct {
	State jobs.State
	N     int
}

// Class is the colour of the state.
func (c Count) Class() string { return class(c.State) }

// Param is the state as an address has it.
func (c Count) Param() string { return string(c.State) }

// Scheduled is a schedule with its newest slot.
type Scheduled struct {
	*schedule.Listed
}

// Class is the colour of the last outcome.
func (s Scheduled) Class() string {
	if s.Last == nil {
		return ""
	}
	return class(jobs.State(s.Last.Outcome))
}

// Worker is a living worker.
type Worker struct {
	*jobs.Worker
	Now time.Time
}

// Silent is how long it gave no sign of life, when that is worth showing.
func (w Worker) Silent() time.Duration {
	if silent := w.Now.Sub(w.Seen); silent > 8*time.Second {
		return silent.Round(time.Second)
	}
	return 0
}

// Page is the board.
type Page struct {
	Values               url.Values // parameters of the address
	State, Queue, Script string
	States               []jobs.State
	Name                 string // of the database, without its password

	Day       []Count // jobs that ended within Within
	Troubles  []*Row  // of them, those that did not end well
	More      int     // troubles that are not listed
	Workers   []Worker
	Schedules []Scheduled
	Jobs      []*Row
	Older     int64 // id to go on with; 0 for none
	Newest    bool  // the list begins with the newest job
}

const (
	// Within is how far "the last night" reaches back.
	Within       = 24 * time.Hour
	jobsOnPage   = 50
	mostTroubles = 10
)

// bad are the states that somebody must know of.
var bad = []jobs.State{jobs.Failed, jobs.Stopped, jobs.NeedsDecision, jobs.DoneFailures}

// Read reads the board for the parameters of its address.
func Read(ctx context.Context, store *jobs.Store, values url.Values, now time.Time) (*Page, error) {
	p := &Page{Values: values, State: values.Get("state"), Queue: values.Get("queue"), Script: values.Get("script"), States: jobs.States, Name: store.Name()}
	if err := p.readDay(ctx, store, now); err != nil {
		return nil, err
	}
	workers, err := store.Workers(ctx, false)
	if err != nil {
		return nil, err
	}
	for _, w := range workers {
		p.Workers = append(p.Workers, Worker{w, now})
	}
	schedules, _, err := schedule.List(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, s := range schedules {
		p.Schedules = append(p.Schedules, Scheduled{s})
	}
	filter := jobs.Filter{Queue: p.Queue, Script: p.Script, Limit: jobsOnPage + 1}
	if slices.Contains(jobs.States, jobs.State(p.State)) {
		filter.States = []jobs.State{jobs.State(p.State)}
	}
	filter.Before, _ = strconv.ParseInt(values.Get("before"), 10, 64)
	p.Newest = filter.Before == 0
	list, err := store.List(ctx, filter)
	if len(list) > jobsOnPage {
		list = list[:jobsOnPage]
		p.Older = list[jobsOnPage-1].ID
	}
	p.Jobs = rows(list, now)
	return p, err
}

func (p *Page) readDay(ctx context.Context, store *jobs.Store, now time.Time) error {
	ended, err := store.Outcomes(ctx, Within)
	if err != nil {
		return err
	}
	wrong := 0
	for _, state := range jobs.States {
		if n := ended[state]; n > 0 {
			p.Day = append(p.Day, Count{state, n})
			if slices.Contains(bad, state) {
				wrong += n
			}
		}
	}
	if wrong == 0 {
		return nil
	}
	list, err := store.List(ctx, jobs.Filter{States: bad, EndedWithin: Within, Limit: mostTroubles})
	p.Troubles, p.More = rows(list, now), max(0, wrong-len(list))
	return err
}

// Wrong counts the jobs of the last day that did not end well.
func Wrong(ctx context.Context, store *jobs.Store) (n int, err error) {
	ended, err := store.Outcomes(ctx, Within)
	for _, state := range bad {
		n += ended[state]
	}
	return n, err
}

func rows(list []*jobs.Job, now time.Time) (all []*Row) {
	for _, job := range list {
		all = append(all, &Row{job, now})
	}
	return all
}

// Attempt is one execution of a job.
type Attempt struct {
	jobs.Attempt
	Now time.Time
}

// Class is the colour of its outcome.
func (a Attempt) Class() string { return class(a.Outcome) }

// Took is how long it took, or takes.
func (a Attempt) Took() time.Duration {
	if a.Ended == nil {
		return max(a.Now.Sub(a.Started), 0).Round(time.Second)
	}
	return a.Ended.Sub(a.Started)
}

// JobPage is one job.
type JobPage struct {
	*Row
	Attempts []Attempt
	Result   string // "" for none
	Log      string // its end
	Cursor   string // of the log
	Whole    bool   // Log is all of it
}

const (
	tailLines  = 300
	mostResult = 10_000 // bytes of a result that are shown
)

// ReadJob reads the page of a job, but for its log.
func ReadJob(ctx context.Context, store *jobs.Store, id int64, now time.Time) (*JobPage, error) {
	job, err := store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	p := &JobPage{Row: &Row{job, now}}
	attempts, err := store.Attempts(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, a := range attempts {
		p.Attempts = append(p.Attempts, Attempt{a, now})
	}
	result, err := store.Result(ctx, id)
	if p.Result = string(result); len(result) > mostResult {
		p.Result = strings.ToValidUTF8(p.Result[:mostResult], "") + " …"
	}
	return p, err
}

// ReadLog adds the end of the log.
func (p *JobPage) ReadLog(ctx context.Context, store *jobs.Store) error {
	list, err := store.LogEnd(ctx, p.ID, tailLines)
	var text strings.Builder
	for _, b := range list {
		text.WriteString(b.Lines)
		p.Cursor = Cursor(b)
	}
	p.Log = text.String()
	p.Whole = len(list) == 0 || list[0].Seq == 1 && len(p.Attempts) == 1
	return err
}

// Cursor is the position of a batch as addresses have it.
func Cursor(b jobs.Batch) string {
	return strconv.FormatInt(b.Run, 10) + "." + strconv.FormatInt(b.Seq, 10)
}

// Position reads a cursor; what it cannot read is the beginning.
func Position(cursor string) (p jobs.Position) {
	run, seq, _ := strings.Cut(cursor, ".")
	p.Run, _ = strconv.ParseInt(run, 10, 64)
	p.Seq, _ = strconv.ParseInt(seq, 10, 64)
	return p
}
