package board

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"transect/client/human"
	"transect/runtime/jobs"
)

// jobGroup is a group of unsuccessful jobs with a common parent or schedule.
type jobGroup struct {
	parent   int64
	schedule string
	bad, all int
	states   []jobs.State
	newest   int64
}

// addJobs adds unsuccessful jobs: one line for all that one job or one schedule submitted.
func (n *OvernightSummary) addJobs(ctx context.Context, store *jobs.Store, outcomes, undecided []jobs.Outcome) error {
	for _, u := range undecided { // ones that ended earlier
		same := func(o jobs.Outcome) bool {
			return o.Parent == u.Parent && o.Schedule == u.Schedule && o.State == u.State
		}
		if !slices.ContainsFunc(outcomes, same) {
			outcomes = append(outcomes, u)
		}
	}
	type key struct {
		parent   int64
		schedule string
	}
	groups, single := map[key]*jobGroup{}, 0
	for _, o := range outcomes {
		k := key{o.Parent, o.Schedule}
		wrong := slices.Contains(jobs.Unsuccessful, o.State)
		if k == (key{}) {
			if wrong {
				single += o.Jobs
			}
			continue
		}
		if groups[k] == nil {
			groups[k] = &jobGroup{parent: k.parent, schedule: k.schedule}
		}
		g := groups[k]
		g.all += o.Jobs
		if wrong {
			g.bad += o.Jobs
			g.states = append(g.states, o.State)
			g.newest = max(g.newest, o.Newest)
		}
	}
	var list []*jobGroup
	for _, g := range groups {
		if g.bad > 0 {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b *jobGroup) int {
		return cmp.Or(rankOf(a.states...)-rankOf(b.states...), cmp.Compare(b.newest, a.newest))
	})
	for _, g := range list[min(len(list), maxProblems):] {
		n.More += g.bad
	}
	heads, err := n.groups(ctx, store, list[:min(len(list), maxProblems)])
	if err != nil || single == 0 {
		return err
	}
	old := slices.ContainsFunc(undecided, func(u jobs.Outcome) bool { return u.Parent == 0 && u.Schedule == "" })
	return n.singles(ctx, store, single, old, heads)
}

func rankOf(states ...jobs.State) int {
	for _, state := range states {
		if state == jobs.Stopped || state == jobs.NeedsDecision {
			return needsDecision
		}
	}
	return failed
}

// groups adds lines for groups of jobs and returns the jobs that submitted some.
func (n *OvernightSummary) groups(ctx context.Context, store *jobs.Store, list []*jobGroup) (map[int64]bool, error) {
	ids := []int64{}
	heads := map[int64]bool{} // whether they are among the single jobs
	var parents []int64
	for _, g := range list {
		ids = append(ids, g.newest)
		if g.parent > 0 {
			ids, parents = append(ids, g.parent), append(parents, g.parent)
			heads[g.parent] = false
		}
	}
	found, err := store.List(ctx, jobs.Filter{IDs: ids})
	if err != nil {
		return nil, err
	}
	byID := map[int64]*jobs.Job{}
	for _, job := range found {
		byID[job.ID] = job
	}
	submitted, err := store.Submitted(ctx, parents...)
	if err != nil {
		return nil, err
	}
	for _, g := range list {
		newest := byID[g.newest]
		if newest == nil {
			continue // removed meanwhile
		}
		var t Problem
		state, word := Unsuccessful, "did not succeed"
		if len(g.states) == 1 {
			state, word = string(g.states[0]), words[g.states[0]]
		}
		query := "&state=" + url.QueryEscape(state) + "#list"
		var more []string
		if parent := byID[g.parent]; parent != nil {
			t.Text, t.Link = fmt.Sprintf("Job %d, %s: ", parent.ID, parent.Title()),
				fmt.Sprintf("/jobs?parent=%d", parent.ID)+query
			g.all = submitted[g.parent].All()
			more = append(more, parent.Describe())
			heads[parent.ID] = slices.Contains(jobs.Unsuccessful, parent.State) && parent.Parent == 0 && parent.Schedule == ""
		} else if g.schedule != "" {
			t.Text, t.Link = "The schedule "+g.schedule+": ", "/jobs?schedule="+url.QueryEscape(g.schedule)+query
		} else {
			t.Text, t.Link = fmt.Sprintf("Jobs that job %d submitted: ", g.parent),
				fmt.Sprintf("/jobs?parent=%d", g.parent)+query
		}
		if g.bad == 1 {
			t.Link = fmt.Sprintf("/jobs/%d", g.newest)
		}
		t.Text += fmt.Sprintf("%d of %s %s", g.bad, human.Count(g.all, "job"), word)
		if newest.State != jobs.Done {
			more = append(more, short(fmt.Sprintf("job %d %s", newest.ID, newest.Describe())))
		}
		t.More = strings.Join(more, "; ")
		n.add(rankOf(g.states...), g.newest, t)
	}
	return heads, nil
}

// words maps states to the end of a sentence about jobs.
var words = map[jobs.State]string{jobs.Failed: "failed", jobs.Stopped: "stopped",
	jobs.NeedsDecision: "need a decision", jobs.DoneFailures: "done with failures"}

// singles adds a line for each other job. heads are jobs that submitted a group: true if they are counted in
// all.
func (n *OvernightSummary) singles(ctx context.Context, store *jobs.Store, all int, old bool,
	heads map[int64]bool) error {
	var list []*jobs.Job
	var err error
	if old {
		if list, err = store.List(ctx, jobs.Filter{States: []jobs.State{jobs.NeedsDecision}, Single: true,
			Limit: maxProblems}); err != nil {
			return err
		}
	}
	ended, err := store.List(ctx, jobs.Filter{States: jobs.Unsuccessful, EndedWithin: Within, Single: true,
		Limit: maxProblems + len(heads)})
	if err != nil {
		return err
	}
	shown := map[int64]bool{}
	for _, job := range slices.Concat(list, ended) {
		if _, head := heads[job.ID]; head || shown[job.ID] || len(shown) == maxProblems {
			continue
		}
		shown[job.ID] = true
		n.add(rankOf(job.State), job.ID, Problem{Link: fmt.Sprintf("/jobs/%d", job.ID),
			Text: fmt.Sprintf("Job %d, %s: %s", job.ID, job.Title(), job.State), More: why(job)})
	}
	n.More += all - len(shown)
	for _, counted := range heads {
		if counted {
			n.More--
		}
	}
	n.More = max(0, n.More)
	return nil
}

// why returns the exit code and the message of a job, and what to do next.
func why(job *jobs.Job) string {
	var list []string
	if job.ExitCode != nil {
		list = append(list, fmt.Sprintf("exit code %d", *job.ExitCode))
	}
	if job.Message != "" {
		list = append(list, short(job.Message))
	}
	return strings.Join(append(list, "next: "+job.Next()), "; ")
}

// short shortens a message for a list; the job's page shows all of it.
func short(text string) string { return human.Shorten(strings.Join(strings.Fields(text), " "), 240) }
