package board

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/dustin/go-humanize/english"

	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
)

// OvernightSummary is what happened within the last day, what goes on, and what somebody
// should look at.
type OvernightSummary struct {
	Ended    Counts // jobs
	Open     Counts // jobs that have not ended
	Problems []Problem
	More     int // jobs that are not listed among them
	ranked   []ranked
}

// Problem is a line of what somebody should look at.
type Problem struct {
	Bad              bool // else it is worth knowing
	Text, Link, More string
}

// ranked is a problem with its place among the others.
type ranked struct {
	Problem
	rank   int
	newest int64 // job
}

const (
	// Within is how far "the last night" reaches back.
	Within      = 24 * time.Hour
	maxProblems = 10 // of each kind
)

// bad are the states that somebody must know of.
var bad = []jobs.State{jobs.Failed, jobs.Stopped, jobs.NeedsDecision, jobs.DoneFailures}

// ReadOvernight reads what happened.
func ReadOvernight(ctx context.Context, store *jobs.Store, now time.Time) (*OvernightSummary, error) {
	workers, err := readWorkers(ctx, store, now)
	if err != nil {
		return nil, err
	}
	schedules, _, err := schedule.List(ctx, store)
	if err != nil {
		return nil, err
	}
	return readOvernight(ctx, store, workers, schedules, now)
}

func readOvernight(ctx context.Context, store *jobs.Store, workers []Worker, schedules []*schedule.Listed, now time.Time) (*OvernightSummary, error) {
	n := &OvernightSummary{}
	outcomes, err := store.Outcomes(ctx, Within)
	if err != nil {
		return nil, err
	}
	ended := jobs.Tally{}
	for _, o := range outcomes {
		ended[o.State] += o.Jobs
	}
	n.Ended = countsOf(ended)
	queues, err := store.Open(ctx)
	if err != nil {
		return nil, err
	}
	open := jobs.Tally{}
	for _, states := range queues {
		for state, waiting := range states {
			open[state] += waiting
		}
	}
	n.Open = countsOf(open)
	n.workers(workers, queues)
	n.schedules(schedules, workers, now)
	undecided, err := store.Undecided(ctx)
	if err != nil {
		return nil, err
	}
	if err := n.jobs(ctx, store, outcomes, undecided); err != nil {
		return nil, err
	}
	slices.SortStableFunc(n.ranked, func(a, b ranked) int { return cmp.Or(a.rank-b.rank, cmp.Compare(b.newest, a.newest)) })
	for _, t := range n.ranked {
		t.Bad = t.rank < worthKnowing
		n.Problems = append(n.Problems, t.Problem)
	}
	return n, nil
}

// Ranks of problems: what stands still first, then what asks for somebody.
const (
	standsStill = iota
	asks
	failed
	worthKnowing
)

func (n *OvernightSummary) add(rank int, newest int64, t Problem) {
	n.ranked = append(n.ranked, ranked{t, rank, newest})
}

// workers finds queues that nobody serves, and workers that died.
func (n *OvernightSummary) workers(workers []Worker, queues map[string]jobs.Tally) {
	served, alive, died := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, w := range workers {
		if !w.Alive {
			died[w.Name]++
			continue
		}
		alive[w.Name] = true
		for _, queue := range w.Queues {
			served[queue] = served[queue] || !w.Stopping
		}
	}
	for i, w := range workers {
		if w.Alive || slices.ContainsFunc(workers[i+1:], func(later Worker) bool { return !later.Alive && later.Name == w.Name }) {
			continue
		}
		text := fmt.Sprintf("The worker %s on %s died", w.Name, w.Host)
		if died[w.Name] > 1 {
			text += fmt.Sprintf(" %d times", died[w.Name])
		}
		more := "last sign of life " + clock(w.Seen, w.Now) + "; its jobs go on elsewhere"
		if alive[w.Name] {
			more = "last sign of life of that one " + clock(w.Seen, w.Now) + "; it is back"
		}
		n.add(worthKnowing, 0, Problem{Text: text, Link: "/jobs?worker=" + url.QueryEscape(w.Name) + "#list", More: more})
	}
	for queue, states := range queues {
		waiting := states[jobs.Waiting] + states[jobs.Retrying]
		if served[queue] || waiting == 0 {
			continue
		}
		text := english.Plural(waiting, "job waits", "jobs wait") + " in the queue " + queue + ", which no worker serves"
		if len(alive) == 0 {
			text = "No worker is running: " + english.Plural(waiting, "job waits", "jobs wait") + " in the queue " + queue
		}
		n.add(standsStill, 0, Problem{Text: text, Link: "/jobs?queue=" + url.QueryEscape(queue) + "#list", More: "start one with: " + StartWorker(queue)})
	}
}

// clock is a moment of the last day, or an earlier one, in local time.
func clock(t, now time.Time) string {
	return t.In(now.Location()).Format("2006-01-02 15:04")
}

// StartWorker is the command that starts a worker for a queue.
func StartWorker(queue string) string {
	if queue == jobs.DefaultQueue {
		return "transect worker"
	}
	return "transect worker --queues " + queue
}

// schedules finds what is overdue.
func (n *OvernightSummary) schedules(list []*schedule.Listed, workers []Worker, now time.Time) {
	for _, s := range list {
		if !s.Overdue {
			continue
		}
		more := "the workers have not fired it: see their output"
		if !slices.ContainsFunc(workers, func(w Worker) bool { return w.Alive }) {
			more = "no worker is there to fire it; start one with: transect worker"
		}
		n.add(standsStill, 0, Problem{Text: "The schedule " + s.Name + " is overdue since " + clock(s.Next, now), Link: ScheduleLink(s.Name), More: more})
	}
}
