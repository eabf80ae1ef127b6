// Package board collects the data of the pages on jobs: the last day at a glance (overnight.go, problems.go),
// workers, schedules and the list of jobs (board.go), one job (job.go) and one schedule (schedule.go).
// Package web renders it.
package board

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
)

// Page is the data of the board.
type Page struct {
	Values    url.Values  // parameters of the address
	Filter    jobs.Filter // selected by the parameters
	State     string      // in it, or Unsuccessful
	Name      string      // of the database, without its password
	Overnight *OvernightSummary
	Workers   []*jobs.Worker // alive, or dead recently
	Schedules []*schedule.Listed
	Jobs      []Row
	Older     int64 // id the next page starts with; 0 for none
}

// Row is a job in the list.
type Row struct {
	*jobs.Job
	Children jobs.Tally // jobs submitted by this one
}

// States lists the states to choose from.
func (*Page) States() []jobs.State { return jobs.States }

// Unsuccessful includes all states of jobs that did not succeed.
const Unsuccessful = "not well"

// jobsOnPage is the number of jobs per page.
const jobsOnPage = 50

// Read reads the board for the parameters of its address.
func Read(ctx context.Context, store *jobs.Store, values url.Values, now time.Time) (*Page, error) {
	p := &Page{Values: values, Name: store.Name(), State: values.Get("state")}
	p.Filter = jobs.Filter{
		Queue:    values.Get("queue"),
		Schedule: values.Get("schedule"),
		Script:   values.Get("script"),
		Worker:   values.Get("worker"),
		Limit:    jobsOnPage + 1,
	}
	p.Filter.Parent, _ = strconv.ParseInt(values.Get("parent"), 10, 64) // ignores values that are not numbers
	p.Filter.Before, _ = strconv.ParseInt(values.Get("before"), 10, 64)
	var err error
	if p.Overnight, err = ReadOvernight(ctx, store, now); err != nil {
		return nil, err
	}
	p.Schedules = p.Overnight.schedules
	all := p.Overnight.workers
	for _, w := range all {
		back := func(o *jobs.Worker) bool { // another worker of its name is alive, or died later
			return o.Name == w.Name && o.ID != w.ID && (o.Alive || o.Seen.After(w.Seen))
		}
		if w.Alive || !slices.ContainsFunc(all, back) {
			p.Workers = append(p.Workers, w)
		}
	}
	return p, p.readJobs(ctx, store)
}

// readJobs lists the selected jobs. Without a selection it lists only jobs that no other job submitted, so
// that the jobs of one script do not hide all others.
func (p *Page) readJobs(ctx context.Context, store *jobs.Store) error {
	chosen := func(name string) bool { return p.Values.Get(name) != "" }
	choices := []string{"state", "queue", "schedule", "script", "worker", "parent", "all"}
	p.Filter.Top = !slices.ContainsFunc(choices, chosen)
	switch state := jobs.State(p.State); {
	case state == Unsuccessful:
		p.Filter.States = jobs.Unsuccessful
	case slices.Contains(jobs.States, state):
		p.Filter.States = []jobs.State{state}
	}
	list, err := store.List(ctx, p.Filter)
	if err != nil {
		return err
	}
	if len(list) > jobsOnPage {
		list = list[:jobsOnPage]
		p.Older = list[jobsOnPage-1].ID
	}
	var ids []int64
	for _, job := range list {
		ids = append(ids, job.ID)
	}
	submitted, err := store.Submitted(ctx, ids...)
	for _, job := range list {
		p.Jobs = append(p.Jobs, Row{job, submitted[job.ID]})
	}
	return err
}
