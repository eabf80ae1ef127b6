package jobcmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/human"
	"transect/client/human/tabular"
	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
)

// printOutcomes summarises how the jobs of the last day ended: the list may be too short for all failures.
func (a commands) printOutcomes(ctx context.Context, store *jobs.Store, more bool) error {
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
		fmt.Fprintln(a.Process.Stderr, strings.Join(parts, "; "))
	}
	return nil
}

// jobListing formats jobs as a table, with a column for reasons if any job has one.
func (a commands) jobListing(list []*jobs.Job) cli.Listing[*jobs.Job] {
	now := a.Process.Now()
	reasons := slices.ContainsFunc(list, func(job *jobs.Job) bool { return job.Message != "" })
	row := func(job *jobs.Job) tabular.Row {
		exit, took := "", ""
		if job.ExitCode != nil {
			exit = strconv.Itoa(*job.ExitCode)
		}
		if d := job.Took(now); d > 0 {
			took = human.Duration(d)
		}
		cells := tabular.Row{job.ID, job.StateText(), cli.LocalTime(job.StartOrDue(), now), took, exit, job.Queue, job.Worker,
			job.Title()}
		if reasons {
			cells = append(cells, shortened(job.Message, 60))
		}
		return cells
	}
	header := tabular.Row{"id", "state", "start", "took", "exit", "queue", "worker", "script"}
	if reasons {
		header = append(header, "reason")
	}
	return cli.Listing[*jobs.Job]{Header: header, Row: row, None: "there are no such jobs"}
}

// shortened cuts a text to one line of at most n characters.
func shortened(text string, n int) string {
	text, _, _ = strings.Cut(text, "\n")
	if letters := []rune(text); len(letters) > n {
		return string(letters[:n-1]) + "…"
	}
	return text
}

func (a commands) workers() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "workers",
		Short: "Show the workers and what they do",
		Long: `Show the running workers: start time, queues and jobs. A worker without a heartbeat
for 15 seconds is declared dead; others then run its jobs. A job that waits for
others leaves its slot to them: 6 of 6, 1 waiting.`,
		Example: "  transect workers\n  transect workers --all",
		Args:    cli.ExactArgs(0, ""),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, _ []string) error {
		list, err := store.Workers(ctx, all)
		if err != nil {
			return err
		}
		return a.workerListing().Print(a.App, list, asJSON)
	})
	cmd.Flags().BoolVar(&all, "all", false, "also show those that died or stopped in the last day")
	cli.JSONFlag[jobs.Worker](cmd, &asJSON, "print one JSON object per worker")
	return cmd
}

func (a commands) workerListing() cli.Listing[*jobs.Worker] {
	now := a.Process.Now()
	row := func(w *jobs.Worker) tabular.Row {
		var running []string
		for _, id := range w.Jobs {
			running = append(running, strconv.FormatInt(id, 10))
		}
		seen := ""
		if w.Silent > 5*time.Second {
			seen = human.Ago(w.Silent)
		}
		busy := fmt.Sprintf("%d of %d", min(len(w.Jobs), w.Slots), w.Slots)
		if more := len(w.Jobs) - w.Slots; more > 0 { // they left their slots to the jobs that they wait for
			busy += fmt.Sprintf(", %d waiting", more)
		}
		return tabular.Row{w.Name, w.Host, w.PID, w.State(), cli.LocalTime(w.Started, now), seen, strings.Join(w.Queues, ","),
			busy, strings.Join(running, " ")}
	}
	return cli.Listing[*jobs.Worker]{Row: row,
		Header: tabular.Row{"worker", "host", "pid", "state", "since", "seen", "queues", "busy", "jobs"},
		None:   "there are no workers; start one with: transect worker"}
}
