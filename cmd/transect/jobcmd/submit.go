package jobcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/calendar"
	"transect/client/fault"
	"transect/client/transport"
	"transect/cmd/transect/cli"
	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/vm"
)

func (a commands) submit() *cobra.Command {
	var at time.Time
	var in time.Duration
	var wait, follow, asJSON, trust bool
	var planned string
	cmd := &cobra.Command{
		Use:   "submit [flags] SCRIPT [ARGS...]",
		Short: "Submit a script as a job, which a worker runs",
		Long: `Submit a script as a job and print the job's id. A worker runs it: see transect
worker. Everything after SCRIPT is an argument of the script; the flags of
transect run and the TRANSECT_ variables of the current environment travel with
the job, except secrets: a job names a profile that its worker has.

The script is packed with the modules it requires by name and its manifest: what was
submitted is what runs, even if the file changes meanwhile. --include adds other
files next to it. The job runs in the current folder if the worker has it, otherwise
in a folder of its own.

A job with a temporary failure (exit code 5) is tried again, with growing delays.
All attempts belong to one run: what it wrote before is not written again.

--jobs postgres://… or TRANSECT_JOBS names a database that machines share; without
it jobs are in the state folder. Who may read the database sees scripts and
arguments, and who may write to it runs scripts on the workers.`,
		Example: `  transect submit --local survey.lua flight/
  transect submit --on field-office --profile company upload.lua /media/card
  transect submit --at 02:30 --key nightly --timeout 3h season.lua
  transect submit --follow --retries 0 report.lua`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && planned != "" {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "--plan %s is given together with the script %s", planned,
					args[0]), "leave the script out: a plan names its own")
			}
			if len(args) == 0 && planned == "" {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "no script was named"), "such as: transect submit survey.lua")
			}
			return nil
		},
	}
	f := a.jobFlags(cmd)
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		if planned != "" {
			return a.submitPlan(f, planned, trust)
		}
		spec, err := a.packedJob(ctx, store, f, args)
		if err != nil {
			return err
		}
		spec.At, spec.In = at, in
		id, err := store.Submit(ctx, spec)
		if err != nil {
			return err
		}
		a.warnWithoutWorker(ctx, store, cmp.Or(spec.Queue, jobs.DefaultQueue))
		if !a.Output.Quiet && (!at.IsZero() || in > 0) {
			now := a.Process.Now()
			fmt.Fprintf(a.Process.Stderr, "it starts at %s\n", cli.LocalTime(cmp.Or(at, now.Add(in)), now))
		}
		if wait || follow {
			return a.finishJob(ctx, store, id, follow, asJSON)
		}
		if asJSON {
			job, err := store.Get(ctx, id)
			if err != nil {
				return err
			}
			return a.PrintJSON(job, "")
		}
		fmt.Fprintln(a.Stdout, id)
		return nil
	})
	cli.AddOptions(cmd.Flags(),
		cli.Option{Name: "at", Kind: "TIME", Doc: "not before TIME, such as 02:30 or 2026-11-23T02:30",
			Parse: func(text string) (err error) {
				now := a.Process.Now()
				if at, err = calendar.Moment(text, now, calendar.Future); err == nil && at.Before(now.Add(-time.Minute)) {
					err = errors.New("this time has passed")
				}
				return err
			}},
		cli.Option{Name: "plan", Kind: "FILE", Parse: cli.ToString(&planned),
			Doc: "submit the plan saved in FILE: the job writes that and nothing else"},
		cli.Option{Name: "in", Kind: "duration", Doc: "not before `DURATION` from now, such as 90m", Parse: cli.ToDuration(&in)})
	cmd.Flags().BoolVar(&trust, "trust", false, "with --plan: also one that was not made by you on this machine")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end of the job, and exit with its exit code")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "as --wait, and print the output of the job as it arrives")
	cli.JSONFlag[jobs.Facts](cmd, &asJSON, "print the job as a JSON object")
	cmd.MarkFlagsMutuallyExclusive("at", "in")
	return cmd
}

// submitPlan submits the script of a plan as a job that applies the plan; the job holds the approved content.
func (a commands) submitPlan(f *jobFlags, file string, trust bool) error {
	agreed, err := a.AgreedPlan(file, trust)
	if err != nil {
		return err
	}
	carried, err := a.OptionsOfPlan(f.cmd.Flags(), &f.job, agreed)
	if err != nil {
		return err
	}
	carried = slices.DeleteFunc(carried, func(word string) bool {
		name, _ := cli.SplitOption(word)
		return f.cmd.Flags().Lookup(name) == nil
	})
	words := slices.DeleteFunc(slices.Clone(a.Process.Args), func(word string) bool {
		return word == "--plan" || word == file || word == "--plan="+file || word == "--trust"
	})
	at := slices.Index(words, "submit") + 1
	words = slices.Concat(words[:at], carried, words[at:],
		[]string{"--apply=" + agreed.Sum + ":" + a.Process.AbsPath(file), "--", agreed.Script}, agreed.Arguments)
	return a.StartAgain(words, agreed.Folder)
}

// warnWithoutWorker warns when no worker serves a queue.
func (a commands) warnWithoutWorker(ctx context.Context, store *jobs.Store, queue string) {
	workers, err := store.Workers(ctx, false)
	if err != nil || a.Output.Quiet {
		return
	}
	var served []string
	for _, w := range workers {
		if !w.Stopping {
			served = append(served, w.Queues...)
		}
	}
	if slices.Contains(served, queue) {
		return
	}
	hint := "start one with: transect worker"
	if queue != jobs.DefaultQueue {
		hint = fmt.Sprintf("the job waits for one, transect worker --queues %s or --name %[1]s", queue)
	}
	if slices.Sort(served); len(served) > 0 {
		hint = "served are " + strings.Join(slices.Compact(served), ", ") + "; " + hint
	}
	fmt.Fprintf(a.Process.Stderr, "no worker serves the queue %s now; %s\n", queue, hint)
}

// finishJob waits for the end of a job and returns its exit code as the command's.
func (a commands) finishJob(ctx context.Context, store *jobs.Store, id int64, follow, asJSON bool) error {
	fmt.Fprintf(a.Process.Stderr, "job %d\n", id)
	job, err := a.await(ctx, store, id, follow)
	if err != nil {
		if _, stopped := errors.AsType[*runtime.Interrupted](err); stopped {
			fmt.Fprintf(a.Process.Stderr, "job %d continues; follow it with transect jobs logs -f %[1]d, stop "+
				"it with transect jobs cancel %[1]d\n", id)
		}
		return err
	}
	if asJSON {
		if err := a.PrintJSON(job, ""); err != nil {
			return err
		}
	}
	if job.State == jobs.Cancelled || job.ExitCode == nil {
		return fault.Of(&fault.CancelledError{}, "job %d: %s", id, job.State)
	}
	if *job.ExitCode == 0 {
		return nil
	}
	if !follow {
		fmt.Fprintf(a.Process.Stderr, "job %d: %s; transect jobs logs %d shows its output\n", id, job.Describe(), id)
	}
	return &vm.Exit{Code: *job.ExitCode}
}

func (a commands) await(ctx context.Context, store *jobs.Store, id int64, follow bool) (*jobs.Job, error) {
	if !follow {
		return store.Wait(ctx, id)
	}
	return store.Follow(ctx, id, jobs.Position{}, a.printBatch)
}

// printBatch prints output where the script wrote it.
func (a commands) printBatch(b jobs.Batch) error {
	to := a.Process.Stderr
	if b.Stream == jobs.StreamOut {
		to = a.Stdout
	}
	_, err := fmt.Fprint(to, transport.Redact(b.Lines))
	return err
}
