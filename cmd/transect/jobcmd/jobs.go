package jobcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/calendar"
	"transect/client/fault"
	"transect/client/human"
	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
)

func (a commands) jobs() *cobra.Command {
	var asJSON, failed bool
	filter := jobs.Filter{Limit: 20}
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "Show the jobs and their outcomes",
		Long: `Show the jobs, newest first; those that need attention (stopped, or in need of a
decision) come before the others.

States: waiting (for a worker, or for the job with the same key), scheduled,
running, retrying, done, done with failures (exit code 3), failed, stopped (exit
codes 2 and 4: the same again would not help), needs a decision (7), cancelled.`,
		Example: `  transect jobs
  transect jobs --state failed,stopped --since 12h
  transect jobs --parent 42 --failed
  transect jobs logs -f 42
  TRANSECT_JOBS=postgres://me@db.example.com/jobs transect jobs`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.UnknownSubcommand(cmd, args[0])
			}
			return nil
		},
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, _ []string) error {
		if failed {
			filter.States = append(filter.States, jobs.Unsuccessful...)
		}
		list, err := store.Overview(ctx, filter)
		if err != nil {
			return err
		}
		listed := a.jobListing(list)
		all := !slices.ContainsFunc([]string{"state", "failed", "queue", "key", "schedule", "worker", "script", "since",
			"parent"}, cmd.Flags().Changed)
		if all {
			listed.None = "there are no jobs; transect submit SCRIPT submits one"
		}
		if err := listed.Print(a.App, list, asJSON); err != nil || asJSON || len(list) == 0 || a.Output.Quiet {
			return err
		}
		if more := len(list) == filter.Limit; more || all {
			return a.printOutcomes(ctx, store, more)
		}
		return nil
	})
	flags := cmd.Flags()
	cli.AddOptions(flags, cli.Option{Name: "state", Kind: "STATES", Parse: toStates(&filter.States),
		Doc: "only jobs in these states, separated by commas"})
	flags.BoolVar(&failed, "failed", false, "only jobs that did not succeed")
	flags.StringVar(&filter.Queue, "queue", "", "only jobs of the queue `Q`")
	flags.StringVar(&filter.Key, "key", "", "only jobs with the key `KEY`")
	flags.StringVar(&filter.Schedule, "schedule", "", "only jobs of the schedule `NAME`")
	flags.Int64Var(&filter.Parent, "parent", 0, "only jobs that the job `ID` submitted")
	flags.StringVar(&filter.Worker, "worker", "", "only jobs that the worker `NAME` ran last")
	flags.StringVar(&filter.Script, "script", "", "only jobs with `TEXT` in the script or its arguments")
	cli.AddOptions(flags,
		cli.Option{Name: "since", Kind: "TIME",
			Doc: "only jobs submitted since a date, such as 2026-11-20, or within a time, such as 12h or 7d",
			Parse: func(text string) (err error) {
				filter.Since, err = calendar.Moment(text, a.Process.Now(), calendar.Past)
				return err
			}},
		cli.Option{Name: "limit", Kind: "N", Value: "20", Doc: "show N jobs; 0 for all", Parse: cli.ToCount(&filter.Limit)})
	cli.JSONFlag[jobs.Facts](cmd, &asJSON, "print one JSON object per job")
	cmd.AddCommand(a.jobsShow(), a.jobsLogs(), a.jobsCancel(), a.jobsRetry(), a.jobsRemove(), a.jobsStats(), a.jobsRoles())
	return cmd
}

func toStates(to *[]jobs.State) func(string) error {
	return func(text string) error {
	words:
		for _, word := range strings.Split(text, ",") {
			word = strings.ReplaceAll(strings.TrimSpace(word), "-", " ")
			for _, state := range jobs.States {
				if word == string(state) {
					*to = append(*to, state)
					continue words
				}
			}
			var known []string
			for _, state := range jobs.States {
				known = append(known, strings.ReplaceAll(string(state), " ", "-"))
			}
			return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no state %q", word), "the states are %s",
				strings.Join(known, ", "))
		}
		return nil
	}
}

func (a commands) jobsCancel() *cobra.Command {
	return a.onJobs("cancel", "Cancel jobs",
		`Cancel jobs. A running job is stopped by its worker within about a second; what it
had begun to write is in its ledger, and transect jobs retry resumes it.`, "cancelled", (*jobs.Store).Cancel)
}

func (a commands) jobsRetry() *cobra.Command {
	return a.onJobs("retry", "Run jobs again, from where they stopped",
		`Run jobs again that did not succeed, or that wait for their time. It continues the
same run: what it wrote before is not written again. A job that is done is
submitted again instead.`, "queued", (*jobs.Store).Retry)
}

// onJobs makes a command that does the same to each of several jobs.
func (a commands) onJobs(name, short, long, done string,
	act func(*jobs.Store, context.Context, int64) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " ID...", Short: short, Long: long,
		Example: "  transect jobs " + name + " 42",
		Args:    cli.AtLeast("ID"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		return a.eachJob(args, done, func(id int64) error { return act(store, ctx, id) })
	})
	return cmd
}

// eachJob applies act to several jobs and continues after a failure.
func (a commands) eachJob(args []string, done string, act func(int64) error) error {
	ids, err := jobIDs(args)
	if err != nil {
		return err
	}
	var failed []error
	for _, id := range ids {
		err := act(id)
		if f := fault.Find(err); err != nil && (f == nil || fault.Transient(err)) {
			return err
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		fmt.Fprintf(a.Stdout, "%s %d\n", done, id)
	}
	if len(failed) < 2 {
		return errors.Join(failed...)
	}
	for _, err := range failed {
		fmt.Fprintln(a.Process.Stderr, fault.Find(err).Facts().Message)
	}
	return fault.Hinted(fault.Of(&fault.ValueError{}, "%d of %d jobs were not changed", len(failed), len(ids)),
		"see: transect jobs")
}

func (a commands) jobsRemove() *cobra.Command {
	var age time.Duration
	cmd := &cobra.Command{
		Use:   "rm [--older-than DAYS] [ID...]",
		Short: "Remove jobs with their logs, ledgers and results",
		Long: `Remove jobs with their logs, ledgers and results. Cancel running ones first.
Workers remove the output of jobs after 30 days and the jobs themselves after 90;
jobs that need a decision are kept.`,
		Example: "  transect jobs rm 42\n  transect jobs rm --older-than 30d",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case age == 0 && cmd.Flags().Changed("older-than"):
				return fault.Hinted(fault.Of(&fault.UsageError{}, "--older-than must be more than 0"), "such as 1h or 30d")
			case age == 0:
				return cli.AtLeast("ID")(cmd, args)
			}
			return nil
		},
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		if err := a.eachJob(args, "removed", func(id int64) error { return store.Remove(ctx, id) }); err != nil || age == 0 {
			return err
		}
		removed, err := store.Prune(ctx, jobs.Retention{Jobs: age})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "removed %s\n", human.Count(removed, "job"))
		return nil
	})
	cli.AddOptions(cmd.Flags(), cli.Option{Name: "older-than", Kind: "duration",
		Doc: "remove jobs that ended more than `DURATION` ago, such as 30d", Parse: cli.ToDuration(&age)})
	return cmd
}
