package main

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
	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/vm"
)

func (a *app) submit() *cobra.Command {
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
		if !a.output.Quiet && (!at.IsZero() || in > 0) {
			fmt.Fprintf(a.process.Stderr, "it starts at %s\n", localTime(cmp.Or(at, a.process.Now().Add(in)), a.process.Now()))
		}
		if wait || follow {
			return a.finishJob(ctx, store, id, follow, asJSON)
		}
		if asJSON {
			job, err := store.Get(ctx, id)
			if err != nil {
				return err
			}
			return a.printJSON(job, "")
		}
		fmt.Fprintln(a.stdout, id)
		return nil
	})
	addOptions(cmd.Flags(),
		option{name: "at", kind: "TIME", doc: "not before TIME, such as 02:30 or 2026-11-23T02:30",
			parse: func(text string) (err error) {
				now := a.process.Now()
				if at, err = calendar.Moment(text, now, calendar.Future); err == nil && at.Before(now.Add(-time.Minute)) {
					err = errors.New("this time has passed")
				}
				return err
			}},
		option{name: "plan", kind: "FILE", parse: toString(&planned),
			doc: "submit the plan saved in FILE: the job writes that and nothing else"},
		option{name: "in", kind: "duration", doc: "not before `DURATION` from now, such as 90m", parse: toDuration(&in)})
	cmd.Flags().BoolVar(&trust, "trust", false, "with --plan: also one that was not made by you on this machine")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end of the job, and exit with its exit code")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "as --wait, and print the output of the job as it arrives")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the job as a JSON object")
	cmd.MarkFlagsMutuallyExclusive("at", "in")
	return cmd
}

// submitPlan submits the script of a plan as a job that applies the plan; the job holds the approved content.
func (a *app) submitPlan(f *jobFlags, file string, trust bool) error {
	agreed, err := a.agreedPlan(file, trust)
	if err != nil {
		return err
	}
	carried, err := a.optionsOfPlan(f.cmd.Flags(), &f.job, agreed)
	if err != nil {
		return err
	}
	carried = slices.DeleteFunc(carried, func(word string) bool {
		name, _ := splitOption(word)
		return f.cmd.Flags().Lookup(name) == nil
	})
	words := slices.DeleteFunc(slices.Clone(a.process.Args), func(word string) bool {
		return word == "--plan" || word == file || word == "--plan="+file || word == "--trust"
	})
	at := slices.Index(words, "submit") + 1
	words = slices.Concat(words[:at], carried, words[at:],
		[]string{"--apply=" + agreed.Sum + ":" + a.process.AbsPath(file), "--", agreed.Script}, agreed.Arguments)
	return a.startAgain(words, agreed.Folder)
}

// warnWithoutWorker warns when no worker serves a queue.
func (a *app) warnWithoutWorker(ctx context.Context, store *jobs.Store, queue string) {
	workers, err := store.Workers(ctx, false)
	if err != nil || a.output.Quiet {
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
	fmt.Fprintf(a.process.Stderr, "no worker serves the queue %s now; %s\n", queue, hint)
}

// finishJob waits for the end of a job and returns its exit code as the command's.
func (a *app) finishJob(ctx context.Context, store *jobs.Store, id int64, follow, asJSON bool) error {
	fmt.Fprintf(a.process.Stderr, "job %d\n", id)
	job, err := a.await(ctx, store, id, follow)
	if err != nil {
		if _, stopped := errors.AsType[*runtime.Interrupted](err); stopped {
			fmt.Fprintf(a.process.Stderr, "job %d continues; follow it with transect jobs logs -f %[1]d, stop "+
				"it with transect jobs cancel %[1]d\n", id)
		}
		return err
	}
	if asJSON {
		if err := a.printJSON(job, ""); err != nil {
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
		fmt.Fprintf(a.process.Stderr, "job %d: %s; transect jobs logs %d shows its output\n", id, job.Describe(), id)
	}
	return &vm.Exit{Code: *job.ExitCode}
}

func (a *app) await(ctx context.Context, store *jobs.Store, id int64, follow bool) (*jobs.Job, error) {
	if !follow {
		return store.Wait(ctx, id)
	}
	return store.Follow(ctx, id, jobs.Position{}, a.printBatch)
}

// printBatch prints output where the script wrote it.
func (a *app) printBatch(b jobs.Batch) error {
	to := a.process.Stderr
	if b.Stream == jobs.StreamOut {
		to = a.stdout
	}
	_, err := fmt.Fprint(to, transport.Redact(b.Lines))
	return err
}
