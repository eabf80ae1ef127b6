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

// printOutcomes summarises how the jobs of the last day ended: the list may be too short for all failures.
func (a *app) printOutcomes(ctx context.Context, store *jobs.Store, more bool) error {
	list, err := store.Outcomes(ctx, 24*time.Hour)
	if err != nil {
		return err
	}
	ended := jobs.Tally{}
	for _, o := range list {
		ended[o.State] += o.Jobs
	}
	var parts []string
	if text := ended.String(); text != "" {
		parts = append(parts, "ended within 24h: "+text)
	}
	if ended[jobs.Failed]+ended[jobs.Stopped]+ended[jobs.NeedsDecision]+ended[jobs.DoneFailures] > 0 {
		parts = append(parts, "--failed shows those that did not succeed")
	}
	if more {
		parts = append(parts, "--limit 0 shows all")
	}
	if len(parts) > 0 {
		fmt.Fprintln(a.process.Stderr, strings.Join(parts, "; "))
	}
	return nil
}

// jobListing formats jobs as a table, with a column for reasons if any job has one.
func (a *app) jobListing(list []*jobs.Job) listing[*jobs.Job] {
	now := a.process.Now()
	reasons := slices.ContainsFunc(list, func(job *jobs.Job) bool { return job.Message != "" })
	row := func(job *jobs.Job) human.Row {
		exit, took := "", ""
		if job.ExitCode != nil {
			exit = strconv.Itoa(*job.ExitCode)
		}
		if d := job.Took(now); d > 0 {
			took = human.Duration(d)
		}
		cells := human.Row{job.ID, job.StateText(), localTime(job.StartOrDue(), now), took, exit, job.Queue, job.Worker,
			job.Title()}
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

// shortened cuts a text to one line of at most n characters.
func shortened(text string, n int) string {
	text, _, _ = strings.Cut(text, "\n")
	if letters := []rune(text); len(letters) > n {
		return string(letters[:n-1]) + "…"
	}
	return text
}

func localTime(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(now.Location()).Format(time.DateTime)
}
