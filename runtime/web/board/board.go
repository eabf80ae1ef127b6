// Package board collects what the pages of jobs show: the last day at a glance
// (overnight.go, problems.go), workers, schedules and the list of jobs (board.go), one job (job.go)
// and one schedule (schedule.go). Package web makes pages of it.
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

// Page is the board.
type Page struct {
	Values    url.Values // parameters of the address
	Chosen    Chosen
	States    []jobs.State
	Name      string // of the database, without its password
	Overnight *OvernightSummary
	Workers   []Worker
	Schedules []Scheduled
	Jobs      []*Row
	Top       bool  // Jobs are those that no job submitted
	Older     int64 // id to go on with; 0 for none
	Newest    bool  // the list begins with the newest job
}

// Chosen are the jobs that the list shows.
type Chosen struct {
	State, Queue, Schedule, Script, Worker string
	Parent                                 int64 // 0 for any
}

// NotWell stands for all states of jobs that ended otherwise than well.
const NotWell = "not well"

// jobsOnPage is how many jobs a page lists.
const jobsOnPage = 50

// Read reads the board for the parameters of its address.
func Read(ctx context.Context, store *jobs.Store, values url.Values, now time.Time) (*Page, error) {
	p := &Page{Values: values, States: jobs.States, Name: store.Name()}
	p.Chosen = Chosen{State: values.Get("state"), Queue: values.Get("queue"), Schedule: values.Get("schedule"), Script: values.Get("script"), Worker: values.Get("worker")}
	p.Chosen.Parent, _ = strconv.ParseInt(values.Get("parent"), 10, 64) // what is no number chooses nothing
	all, err := readWorkers(ctx, store, now)
	if err != nil {
		return nil, err
	}
	back := func(w Worker) bool { // another one of its name lives, or died later
		return slices.ContainsFunc(all, func(o Worker) bool { return o.Name == w.Name && o.ID != w.ID && (o.Alive || o.Seen.After(w.Seen)) })
	}
	for _, w := range all {
		if w.Alive || !back(w) {
			p.Workers = append(p.Workers, w)
		}
	}
	schedules, _, err := schedule.List(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, s := range schedules {
		p.Schedules = append(p.Schedules, Scheduled{s})
	}
	if p.Overnight, err = readOvernight(ctx, store, all, schedules, now); err != nil {
		return nil, err
	}
	return p, p.readJobs(ctx, store, now)
}

// readJobs lists what is chosen; without a choice those that no job submitted, so
// that one season does not push out all the others.
func (p *Page) readJobs(ctx context.Context, store *jobs.Store, now time.Time) error {
	p.Top = p.Chosen == Chosen{} && p.Values.Get("all") == ""
	filter := jobs.Filter{Queue: p.Chosen.Queue, Schedule: p.Chosen.Schedule, Script: p.Chosen.Script, Worker: p.Chosen.Worker, Parent: p.Chosen.Parent, Top: p.Top, Limit: jobsOnPage + 1}
	switch state := jobs.State(p.Chosen.State); {
	case state == NotWell:
		filter.States = bad
	case slices.Contains(jobs.States, state):
		filter.States = []jobs.State{state}
	}
	filter.Before, _ = strconv.ParseInt(p.Values.Get("before"), 10, 64)
	p.Newest = filter.Before <= 0
	list, err := store.List(ctx, filter)
	if err != nil {
		return err
	}
	if len(list) > jobsOnPage {
		list = list[:jobsOnPage]
		p.Older = list[jobsOnPage-1].ID
	}
	p.Jobs = rows(list, now)
	var ids []int64
	for _, job := range list {
		ids = append(ids, job.ID)
	}
	submitted, err := store.Submitted(ctx, ids...)
	for _, row := range p.Jobs {
		row.Children = countsOf(submitted[row.ID])
	}
	return err
}

// readWorkers lists the workers that live, or died lately.
func readWorkers(ctx context.Context, store *jobs.Store, now time.Time) (all []Worker, err error) {
	workers, err := store.Workers(ctx, true)
	for _, w := range workers {
		if w.Alive || w.Died {
			all = append(all, Worker{w, now})
		}
	}
	return all, err
}

// Worker is a worker that lives, or died lately.
type Worker struct {
	*jobs.Worker
	Now time.Time
}

// Silent is how long it gave no sign of life, when that is worth showing.
func (w Worker) Silent() time.Duration {
	if silent := w.Worker.Silent; w.Alive && silent > 8*time.Second {
		return silent.Round(time.Second)
	}
	return 0
}

// State is what it does, in the words of transect workers.
func (w Worker) State() string {
	switch {
	case w.Died:
		return "died"
	case w.Stopping:
		return "stopping"
	case len(w.Jobs) == 0:
		return "idle"
	}
	return "working"
}

// Class is the colour of the state.
func (w Worker) Class() string {
	return map[string]string{"died": "bad", "stopping": "warn", "working": "busy"}[w.State()]
}
