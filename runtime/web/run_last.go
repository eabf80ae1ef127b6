package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
)

// subject is a cron job or a script, with its last run.
type subject struct {
	Name    string
	Job     bool // of cron
	Script  string
	Last    *runRow   // nil for a job that never ran
	Recent  []*runRow // oldest first
	Next    time.Time // of a job; zero when it is not due again
	Paused  bool
	Overdue time.Time // when it should have started; zero when it is not overdue
}

// Bad reports whether the subject needs attention.
func (b *subject) Bad() bool { return !b.Overdue.IsZero() || b.Last != nil && b.Last.Failed() }

const (
	recentRuns = 20
	maxScripts = 60
)

// subjects returns the cron jobs and the scripts of runs; those that need attention come first, then the
// latest.
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
		if b := byName["job "+j.Name]; b.Last != nil && b.Last.State != history.Running {
			b.Overdue = j.Overdue(b.Last.Started, s.Now())
		}
	}
	slices.SortStableFunc(all, func(a, b *subject) int {
		return cmp.Or(trueFirst(a.Bad(), b.Bad()), b.started().Compare(a.started()), cmp.Compare(a.Name, b.Name))
	})
	for _, b := range all {
		slices.Reverse(b.Recent)
	}
	return all[:min(len(all), maxScripts)]
}

// subjectKey returns the key of a run's cron job or script.
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

// crontabAge is how long the crontab is cached.
const crontabAge = 5 * time.Second

// crontab lists the cron jobs; none on a machine without cron.
func (s *Server) crontab(ctx context.Context) ([]*cron.Job, error) {
	return s.cron.get("", crontabAge, func() ([]*cron.Job, error) {
		program := cron.Program{Path: s.getenv("TRANSECT_CRONTAB")}
		if program.Missing() {
			return nil, nil
		}
		table, err := program.Read(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		return table.Jobs(), nil
	})
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
