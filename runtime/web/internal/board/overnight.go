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

// OvernightSummary summarises the last day, the open jobs, and the problems that need attention.
type OvernightSummary struct {
	Ended    jobs.Tally
	Open     jobs.Tally // jobs that have not ended
	Problems []Problem  // blocked work first
	More     int        // jobs not listed in Problems

	workers   []*jobs.Worker // alive, or dead recently
	schedules []*schedule.Listed
	now       time.Time
}

// Problem is a line about something that needs attention.
type Problem struct {
	Bad              bool // otherwise for information only
	Text, Link, More string
	rank             int
	newest           int64 // job
}

const (
	// Within is the period that the summary covers.
	Within      = 24 * time.Hour
	maxProblems = 10 // of each kind
)

// ReadOvernight reads the summary.
func ReadOvernight(ctx context.Context, store *jobs.Store, now time.Time) (*OvernightSummary, error) {
	n := &OvernightSummary{Ended: jobs.Tally{}, Open: jobs.Tally{}, now: now}
	workers, err := store.Workers(ctx, true)
	if err != nil {
		return nil, err
	}
	n.workers = slices.DeleteFunc(workers, func(w *jobs.Worker) bool { return !w.Alive && !w.Died })
	if n.schedules, _, err = schedule.List(ctx, store); err != nil {
		return nil, err
	}
	outcomes, err := store.Outcomes(ctx, Within)
	if err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		n.Ended[o.State] += o.Jobs
	}
	queues, err := store.Open(ctx)
	if err != nil {
		return nil, err
	}
	for _, states := range queues {
		for state, waiting := range states {
			n.Open[state] += waiting
		}
	}
	n.addWorkers(queues)
	n.addSchedules()
	undecided, err := store.Undecided(ctx)
	if err != nil {
		return nil, err
	}
	if err := n.addJobs(ctx, store, outcomes, undecided); err != nil {
		return nil, err
	}
	slices.SortStableFunc(n.Problems, func(a, b Problem) int {
		return cmp.Or(a.rank-b.rank, cmp.Compare(b.newest, a.newest))
	})
	return n, nil
}

// Ranks of problems: blocked work first, then problems that wait for a decision.
const (
	blocked = iota
	needsDecision
	failed
	worthKnowing
)

func (n *OvernightSummary) add(rank int, newest int64, t Problem) {
	t.rank, t.newest, t.Bad = rank, newest, rank < worthKnowing
	n.Problems = append(n.Problems, t)
}

// addWorkers adds queues without a worker, and workers that died.
func (n *OvernightSummary) addWorkers(queues map[string]jobs.Tally) {
	served, alive, died := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, w := range n.workers {
		if !w.Alive {
			died[w.Name]++
			continue
		}
		alive[w.Name] = true
		for _, queue := range w.Queues {
			served[queue] = served[queue] || !w.Stopping
		}
	}
	for i, w := range n.workers {
		later := func(o *jobs.Worker) bool { return !o.Alive && o.Name == w.Name }
		if w.Alive || slices.ContainsFunc(n.workers[i+1:], later) {
			continue
		}
		text := fmt.Sprintf("The worker %s on %s died", w.Name, w.Host)
		if died[w.Name] > 1 {
			text += fmt.Sprintf(" %d times", died[w.Name])
		}
		more := "last seen " + n.clock(w.Seen) + "; other workers take over its jobs"
		if alive[w.Name] {
			more = "last seen " + n.clock(w.Seen) + "; a worker of that name is running again"
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
		link := "/jobs?queue=" + url.QueryEscape(queue) + "#list"
		n.add(blocked, 0, Problem{Text: text, Link: link, More: "start one with: " + StartWorker(queue)})
	}
}

// clock formats a time to the minute, in local time.
func (n *OvernightSummary) clock(t time.Time) string {
	return t.In(n.now.Location()).Format("2006-01-02 15:04")
}

// StartWorker returns the command that starts a worker for a queue.
func StartWorker(queue string) string {
	if queue == jobs.DefaultQueue {
		return "transect worker"
	}
	return "transect worker --queues " + queue
}

// addSchedules adds overdue schedules.
func (n *OvernightSummary) addSchedules() {
	more := "no worker fired it: see the output of the workers"
	if !slices.ContainsFunc(n.workers, func(w *jobs.Worker) bool { return w.Alive }) {
		more = "no worker is running that could fire it; start one with: transect worker"
	}
	for _, s := range n.schedules {
		if s.Overdue {
			text := "The schedule " + s.Name + " has been overdue since " + n.clock(s.Next)
			n.add(blocked, 0, Problem{Text: text, Link: ScheduleLink(s.Name), More: more})
		}
	}
}
