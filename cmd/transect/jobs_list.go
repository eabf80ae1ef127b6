package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/human"
	"transect/runtime/jobs"
)

// sayOutcomes says how the jobs of the last day ended: a list may be too short to
// show all that failed.
func (a *app) sayOutcomes(ctx context.Context, store *jobs.Store, more bool) error {
	list, err := store.Outcomes(ctx, 24*time.Hour)
	if err != nil {
		return err
	}
	ended := jobs.Tally{}
	for _, o := range list {
		ended[o.State] += o.Jobs
	}
	var parts []string
	if text := countStates(ended); text != "" {
		parts = append(parts, "ended within 24h: "+text)
	}
	if ended[jobs.Failed]+ended[jobs.Stopped]+ended[jobs.NeedsDecision]+ended[jobs.DoneFailures] > 0 {
		parts = append(parts, "--failed shows what did not go well")
	}
	if more {
		parts = append(parts, "--limit 0 shows all")
	}
	if len(parts) > 0 {
		fmt.Fprintln(a.process.Stderr, strings.Join(parts, "; "))
	}
	return nil
}

// countStates is a text such as 12 done, 1 failed.
func countStates(count map[jobs.State]int) string {
	var parts []string
	for _, state := range jobs.States {
		if n := count[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

// jobListing has a column for the reasons where one of the jobs has one.
func (a *app) jobListing(list []*jobs.Job) listing[*jobs.Job] {
	now := a.process.Now()
	reasons := slices.ContainsFunc(list, func(job *jobs.Job) bool { return job.Message != "" })
	row := func(job *jobs.Job) human.Row {
		state := string(job.State)
		switch {
		case job.State == jobs.Running && job.Cancelled:
			state = "running, being cancelled"
		case job.Waiting != "":
			state += " for " + job.Waiting
		}
		exit := ""
		if job.ExitCode != nil {
			exit = strconv.Itoa(*job.ExitCode)
		}
		cells := human.Row{job.ID, state, localTime(startOrDue(job), now), took(job, now), exit, job.Queue, job.Worker, job.Title()}
		if reasons {
			cells = append(cells, shortened(job.Message, 60))
		}
		return cells
	}
	header := human.Row{"id", "state", "start", "took", "exit", "queue", "worker", "script"}
	if reasons {
		header = append(header, "reason")
	}
	return listing[*jobs.Job]{header: header, row: row, none: "there are no such jobs"}
}

// shortened is a text of one line with at most n characters.
func shortened(text string, n int) string {
	text, _, _ = strings.Cut(text, "\n")
	if letters := []rune(text); len(letters) > n {
		return string(letters[:n-1]) + "…"
	}
	return text
}

// startOrDue is when a job started, or will at the earliest.
func startOrDue(job *jobs.Job) time.Time {
	if job.State == jobs.Scheduled || job.State == jobs.Retrying || job.Started.IsZero() {
		return job.Due
	}
	return job.Started
}

func localTime(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(now.Location()).Format(time.DateTime)
}

// took is how long the newest attempt took, or takes.
func took(job *jobs.Job, now time.Time) string {
	switch {
	case job.Started.IsZero() || job.State == jobs.Waiting || job.State == jobs.Scheduled || job.State == jobs.Retrying:
		return ""
	case job.State == jobs.Running:
		return human.Duration(max(now.Sub(job.Started), 0).Round(time.Second))
	case job.Ended.Before(job.Started):
		return ""
	}
	return human.Duration(job.Ended.Sub(job.Started))
}
