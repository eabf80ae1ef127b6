package jobcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/duration"
	"transect/client/human"
	"transect/client/human/tabular"
	"transect/client/transport"
	"transect/cmd/transect/cli"
	"transect/runtime/jobrun"
	"transect/runtime/jobs"
)

// shownJob is a job as --json prints it.
type shownJob struct {
	Job      jobs.Facts      `json:"job"`
	Attempts []jobs.Attempt  `json:"attempts"`
	Result   json.RawMessage `json:"result"`
}

func (a commands) jobsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show one job, its attempts and the end of its output",
		Long:    "Show one job: what was submitted, its attempts, its result and the last lines of its output.",
		Example: "  transect jobs show 42",
		Args:    cli.ExactArgs(1, "ID"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
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
			return a.PrintJSON(shownJob{job.Facts(), attempts, result}, "  ")
		}
		a.printJob(job, attempts, result)
		if job.State == jobs.Waiting && job.Waiting == "" {
			a.warnWithoutWorker(ctx, store, job.Queue)
		}
		tail, err := jobrun.LastOutput(ctx, store, job.ID, 20)
		if err == nil && tail != "" {
			fmt.Fprintf(a.Stdout, "\n%s", tail)
		}
		return err
	})
	cli.JSONFlag[shownJob](cmd, &asJSON, "print a JSON object")
	return cmd
}

func (a commands) printJob(job *jobs.Job, attempts []jobs.Attempt, result json.RawMessage) {
	now := a.Process.Now()
	line := a.Fact
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
	line("submitted", "%s by %s", cli.LocalTime(job.Submitted, now), job.By())
	if job.State == jobs.Scheduled || job.State == jobs.Retrying || job.Waiting != "" {
		line("due", "%s", cli.LocalTime(job.Due, now))
	}
	if job.Timeout > 0 {
		line("timeout", "%s", duration.Format(job.Timeout.Seconds()))
	}
	line("retries", "%d", job.Retries)
	if result != nil {
		var short bytes.Buffer
		text := string(result)
		if json.Compact(&short, result) == nil {
			text = short.String()
		}
		if len(text) > 200 {
			text = fmt.Sprintf("%s, see transect jobs show --json %d", human.Size(int64(len(text))), job.ID)
		}
		line("result", "%s", text)
	}
	var rows []tabular.Row
	for _, attempt := range attempts {
		end, took, exit := "", "", ""
		if attempt.Ended != nil {
			end, took = cli.LocalTime(*attempt.Ended, now), human.Duration(attempt.Ended.Sub(attempt.Started))
		}
		if attempt.ExitCode != nil {
			exit = fmt.Sprint(*attempt.ExitCode)
		}
		rows = append(rows, tabular.Row{attempt.Number, attempt.Worker, cli.LocalTime(attempt.Started, now), end, took, exit,
			attempt.Outcome})
	}
	if len(rows) > 0 {
		fmt.Fprintln(a.Stdout)
		a.PrintTable(tabular.Row{"attempt", "worker", "start", "end", "took", "exit", "outcome"}, rows)
	}
}

func stateLine(job *jobs.Job) string {
	if job.Waiting != "" {
		text := job.StateText()
		if job.ExitCode != nil {
			text += fmt.Sprintf(" (exit code %d)", *job.ExitCode)
		}
		return text
	}
	text := job.Describe()
	if job.State == jobs.Running && job.Cancelled {
		text += ", being cancelled"
	}
	return text
}

func (a commands) jobsLogs() *cobra.Command {
	var follow, times bool
	lines := 0
	cmd := &cobra.Command{
		Use:   "logs [-f] ID",
		Short: "Show the output of a job",
		Long: `Show the output of a job, of all its attempts; -f follows it until the job ends.
Output of the job goes to standard output, its messages to standard error.`,
		Example: "  transect jobs logs 42\n  transect jobs logs -f 42\n  transect jobs logs --lines 50 42",
		Args:    cli.ExactArgs(1, "ID"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
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
		if lines > 0 {
			return nil
		}
		return store.ReadLog(ctx, ids[0], &at, show)
	})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new lines as they arrive, until the job ends")
	cmd.Flags().BoolVarP(&times, "times", "t", false, "print each line with its attempt and time")
	cli.AddOptions(cmd.Flags(), cli.Option{Name: "lines", Kind: "N", Doc: "begin with the last N lines",
		Parse: cli.ToCount(&lines)})
	return cmd
}

// printTimed prints lines with their attempt and time, all to standard output.
func (a commands) printTimed(b jobs.Batch) error {
	mark := fmt.Sprintf("%d %s ", b.Attempt, b.At.In(a.Process.Now().Location()).Format("15:04:05.000"))
	for line := range strings.Lines(transport.Redact(b.Lines)) {
		if _, err := fmt.Fprint(a.Stdout, mark+line); err != nil {
			return err
		}
	}
	return nil
}
