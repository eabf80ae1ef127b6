package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"transect/client/transport"
	"transect/runtime/jobs"
)

func (a *app) jobsShow() *cobra.Command {
	var address string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show one job, its attempts and the end of its output",
		Long:    "Show one job: what was submitted, its attempts, its result and the last lines of its output.",
		Example: "  transect jobs show 42",
		Args:    exactArgs(1, "ID"),
		RunE: a.withJobs(&address, func(ctx context.Context, store *jobs.Store, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			job, err := store.Get(ctx, ids[0])
			if err != nil {
				return err
			}
			attempts, err := store.Attempts(ctx, job.ID)
			if err != nil {
				return err
			}
			result, err := store.Result(ctx, job.ID)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(struct {
					Job      *jobs.Job       `json:"job"`
					Attempts []jobs.Attempt  `json:"attempts"`
					Result   json.RawMessage `json:"result"`
				}{job, attempts, result}, "  ")
			}
			a.printJob(job, attempts, result)
			tail, err := a.lastOutput(ctx, store, job.ID, 20)
			if err == nil && tail != "" {
				fmt.Fprintf(a.stdout, "\n%s", tail)
			}
			return err
		}),
	}
	a.jobsFlag(cmd, &address)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func (a *app) printJob(job *jobs.Job, attempts []jobs.Attempt, result json.RawMessage) {
	now := a.process.Now()
	line := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(a.stdout, "%-11s %s\n", name, text)
		}
	}
	line("job", "%d", job.ID)
	line("state", "%s", stateLine(job))
	line("next", "%s", job.Next())
	line("script", "%s", strings.Join(append([]string{job.Script}, job.Args...), " "))
	line("flags", "%s", strings.Join(slices.Concat(job.Env, job.Run), " "))
	line("folder", "%s", job.Folder)
	if job.Bundle != "" {
		line("content", "%.12s", job.Bundle)
	}
	line("run", "%s", jobs.RunID(job.ID))
	line("queue", "%s, priority %d", job.Queue, job.Priority)
	line("key", "%s", job.Key)
	line("schedule", "%s", job.Schedule)
	line("submitted", "%s by %s", localTime(job.Submitted, now), job.User)
	if job.State == jobs.Scheduled || job.State == jobs.Retrying {
		line("due", "%s", localTime(job.Due, now))
	}
	if job.Timeout > 0 {
		line("timeout", "%s", job.Timeout)
	}
	line("retries", "%d", job.Retries)
	if result != nil {
		var short bytes.Buffer
		text := string(result)
		if json.Compact(&short, result) == nil {
			text = short.String()
		}
		if len(text) > 200 {
			text = fmt.Sprintf("%s, see transect jobs show --json %d", humanize.IBytes(uint64(len(text))), job.ID)
		}
		line("result", "%s", text)
	}
	var rows []table.Row
	for _, attempt := range attempts {
		end, took, exit := "", "", ""
		if attempt.Ended != nil {
			end, took = localTime(*attempt.Ended, now), attempt.Ended.Sub(attempt.Started).Round(100*time.Millisecond).String()
		}
		if attempt.ExitCode != nil {
			exit = fmt.Sprint(*attempt.ExitCode)
		}
		rows = append(rows, table.Row{attempt.Number, attempt.Worker, localTime(attempt.Started, now), end, took, exit, attempt.Outcome})
	}
	if len(rows) > 0 {
		fmt.Fprintln(a.stdout)
		a.printTable(table.Row{"attempt", "worker", "start", "end", "took", "exit", "outcome"}, rows)
	}
}

func stateLine(job *jobs.Job) string {
	text := job.Describe()
	if job.Waiting != "" {
		text += " for " + job.Waiting
	}
	if job.State == jobs.Running && job.Cancelled {
		text += ", being cancelled"
	}
	return text
}

// lastOutput is the last n lines of a job.
func (a *app) lastOutput(ctx context.Context, store *jobs.Store, id int64, n int) (string, error) {
	list, err := store.LogEnd(ctx, id, n)
	var text strings.Builder
	for _, b := range list {
		text.WriteString(b.Lines)
	}
	return transport.Redact(string(lastLines([]byte(text.String()), n))), err
}

func (a *app) jobsLogs() *cobra.Command {
	var address string
	var follow, times bool
	lines := 0
	cmd := &cobra.Command{
		Use:   "logs [-f] ID",
		Short: "Show the output of a job",
		Long: `Show the output of a job, of all its attempts; -f follows it until the job ends.
Output of the job goes to standard output, its messages to standard error.`,
		Example: "  transect jobs logs 42\n  transect jobs logs -f 42\n  transect jobs logs --lines 50 42",
		Args:    exactArgs(1, "ID"),
		RunE: a.withJobs(&address, func(ctx context.Context, store *jobs.Store, args []string) error {
			ids, err := jobIDs(args)
			if err != nil {
				return err
			}
			if _, err := store.Get(ctx, ids[0]); err != nil {
				return err
			}
			show := a.printBatch
			if times {
				show = a.printTimed
			}
			var at jobs.Position
			if lines > 0 {
				list, err := store.LogEnd(ctx, ids[0], lines)
				if err != nil {
					return err
				}
				left := -lines
				for _, b := range list {
					left += strings.Count(b.Lines, "\n")
				}
				for _, b := range list {
					for ; left > 0 && b.Lines != ""; left-- {
						_, b.Lines, _ = strings.Cut(b.Lines, "\n")
					}
					if err := show(b); err != nil {
						return err
					}
					at = jobs.Position{Run: b.Run, Seq: b.Seq}
				}
			}
			if follow {
				_, err := store.Follow(ctx, ids[0], at, show)
				return err
			}
			for {
				list, err := store.Log(ctx, ids[0], at)
				if err != nil || len(list) == 0 || lines > 0 {
					return err
				}
				for _, b := range list {
					if err := show(b); err != nil {
						return err
					}
					at = jobs.Position{Run: b.Run, Seq: b.Seq}
				}
			}
		}),
	}
	a.jobsFlag(cmd, &address)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new lines as they arrive, until the job ends")
	cmd.Flags().BoolVarP(&times, "times", "t", false, "print each line with its attempt and time")
	addOptions(cmd.Flags(), option{name: "lines", kind: "N", doc: "begin with the last N lines", parse: toCount(&lines)})
	return cmd
}

// printTimed prints lines with their attempt and time, all to standard output.
func (a *app) printTimed(b jobs.Batch) error {
	mark := fmt.Sprintf("%d %s ", b.Attempt, b.At.In(a.process.Now().Location()).Format("15:04:05.000"))
	for line := range strings.Lines(transport.Redact(b.Lines)) {
		if _, err := fmt.Fprint(a.stdout, mark+line); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) jobsStats() *cobra.Command {
	var address string
	var asJSON bool
	within := 24 * time.Hour
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Sum up the jobs",
		Long:    "Sum up the jobs: what is queued and running, how those of the last day ended, how long they waited and took.",
		Example: "  transect jobs stats\n  transect jobs stats --within 12h",
		Args:    exactArgs(0, ""),
		RunE: a.withJobs(&address, func(ctx context.Context, store *jobs.Store, _ []string) error {
			stats, err := store.Stats(ctx, within)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(stats, "  ")
			}
			a.printStats(stats, within)
			return nil
		}),
	}
	a.jobsFlag(cmd, &address)
	addOptions(cmd.Flags(), option{name: "within", kind: "duration", value: "24h", doc: "look at the jobs that ended within `DURATION`", parse: toDuration(&within)})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func (a *app) printStats(stats *jobs.Stats, within time.Duration) {
	open := []jobs.State{jobs.Waiting, jobs.Scheduled, jobs.Running, jobs.Retrying}
	header := table.Row{"queue"}
	for _, state := range open {
		header = append(header, state)
	}
	var rows []table.Row
	for queue, states := range stats.Queues {
		row := table.Row{queue}
		for _, state := range open {
			row = append(row, states[state])
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b table.Row) int { return strings.Compare(a[0].(string), b[0].(string)) })
	if len(rows) > 0 {
		a.printTable(header, rows)
		fmt.Fprintln(a.stdout)
	}
	var ended []string
	for _, state := range jobs.States {
		if n := stats.Ended[state]; n > 0 {
			ended = append(ended, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(ended) == 0 {
		ended = []string{"none"}
	}
	fmt.Fprintf(a.stdout, "%-11s %s\n", "ended", strings.Join(ended, ", ")+" within "+shortDuration(within))
	if stats.Wait > 0 || stats.Run > 0 {
		fmt.Fprintf(a.stdout, "%-11s waited %s, took %s\n", "median", stats.Wait.Round(time.Millisecond), stats.Run.Round(time.Millisecond))
	}
	fmt.Fprintf(a.stdout, "%-11s %d with %d slots\n", "workers", stats.Workers, stats.Slots)
	fmt.Fprintf(a.stdout, "%-11s %s\n", "database", humanize.IBytes(uint64(stats.Size)))
}

// shortDuration is 24h instead of 24h0m0s.
func shortDuration(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}
