package web

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
)

// subject is a job or a script, with its last run.
type subject struct {
	Name    string
	Job     bool // of cron
	Script  string
	Last    *runRow   // nil for a job that never ran
	Recent  []*runRow // the oldest first
	Next    time.Time // of a job; zero when it is not due again
	Paused  bool
	Overdue time.Time // when it should have started; zero when it is not overdue
}

// Bad reports that somebody should look.
func (b *subject) Bad() bool { return !b.Overdue.IsZero() || b.Last != nil && b.Last.Failed() }

const (
	recentRuns = 20
	maxScripts = 60
)

// startLate is how late cron may start a job: it looks at its table once a minute.
const startLate = 2 * time.Minute

// subjects are the jobs of cron and the scripts of the runs, those first that
// somebody should look at, then the latest.
func (s *Server) subjects(runs []*history.Summary, table []*cron.Job) []*subject {
	byName := map[string]*subject{}
	var all []*subject
	add := func(key string, b *subject) *subject {
		byName[key] = b
		all = append(all, b)
		return b
	}
	for _, j := range table {
		b := add("job "+j.Name, &subject{Name: j.Name, Job: true, Paused: j.Off})
		if j.Times != nil && !j.Off {
			if next := j.Times.Next(s.Now(), 1); len(next) > 0 {
				b.Next = next[0]
			}
		}
	}
	for _, run := range runs {
		key := subjectKey(run)
		b := byName[key]
		if b == nil {
			b = add(key, &subject{Name: cmp.Or(run.Job, scriptName(run.Script)), Job: run.Job != ""})
		}
		if b.Last == nil {
			b.Last, b.Script = s.row(run), run.Script
		}
		if len(b.Recent) < recentRuns {
			b.Recent = append(b.Recent, &runRow{Summary: run, Now: s.Now()})
		}
	}
	for _, j := range table {
		b := byName["job "+j.Name]
		if b.Last == nil || j.Times == nil || j.Off || b.Last.State == history.Running {
			continue
		}
		if due := j.Times.Next(b.Last.Started.In(s.Now().Location()), 1); len(due) > 0 && s.Now().Sub(due[0]) > startLate {
			b.Overdue = due[0]
		}
	}
	slices.SortStableFunc(all, func(a, b *subject) int {
		return cmp.Or(-compareBool(a.Bad(), b.Bad()), b.started().Compare(a.started()), cmp.Compare(a.Name, b.Name))
	})
	for _, b := range all {
		slices.Reverse(b.Recent)
	}
	return all[:min(len(all), maxScripts)]
}

// subjectKey tells what a run is one of: those of a job of cron, or of a script.
func subjectKey(run *history.Summary) string {
	if run.Job != "" {
		return "job " + run.Job
	}
	return "script " + run.Script
}

func (b *subject) started() time.Time {
	if b.Last == nil {
		return time.Time{}
	}
	return b.Last.Started
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// jobs reads the crontab, at most every few seconds.
type cronJobs struct {
	program cron.Program

	mu    sync.Mutex
	at    time.Time
	table []*cron.Job
	err   error
}

const crontabAge = 5 * time.Second

// read lists the jobs. A machine without cron has none.
func (j *cronJobs) read(ctx context.Context) ([]*cron.Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.at.IsZero() && time.Since(j.at) < crontabAge {
		return j.table, j.err
	}
	if j.program.Missing() {
		return nil, nil
	}
	table, err := j.program.Read(ctx)
	if ctx.Err() != nil {
		return j.table, nil
	}
	j.at, j.table, j.err = time.Now(), nil, err
	if err == nil {
		j.table = table.Jobs()
	}
	return j.table, j.err
}

func jobNames(runs []*history.Summary, table []*cron.Job) []string {
	names := history.Jobs(runs)
	for _, j := range table {
		if !slices.Contains(names, j.Name) {
			names = append(names, j.Name)
		}
	}
	slices.Sort(names)
	return names
}
