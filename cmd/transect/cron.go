package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"transect/runtime/timetable"
	"transect/runtime/unattended"
	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
	"transect/runtime/vm"
	"transect/stdlib"
	"transect/stdlib/lock"
)

// showTimes is how many of the next times, and of the last runs, are shown.
const showTimes = 3

func (a *app) cron() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cron",
		Short: "Run scripts with cron",
		Long: `Run scripts with cron: jobs are marked lines in the user's crontab. All other
lines are kept byte for byte. TRANSECT_CRONTAB names a program to use instead of
crontab.`,
		Example: `  transect cron add nightly '30 2 * * *' --config platform.json sync.lua flights/
  transect cron list
  transect cron run nightly
  transect cron logs -f nightly`,
	}
	group(cmd)
	cmd.AddCommand(a.cronAdd(), a.cronList(), a.cronShow(), a.cronRun(), a.cronLogs(), a.cronEdit(), a.cronPause(),
		a.cronResume(), a.cronRemove())
	return cmd
}

func (a *app) crontab() cron.Program { return cron.Program{Path: a.process.Getenv("TRANSECT_CRONTAB")} }

// cronJob finds a job and the table it is in.
func (a *app) cronJob(ctx context.Context, name string) (*cron.Job, *cron.Table, error) {
	t, err := a.crontab().Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	j, err := t.Find(name)
	return j, t, err
}

// changeCrontab changes the crontab under a lock.
func (a *app) changeCrontab(ctx context.Context, change func(*cron.Table) error) error {
	if err := vm.CheckStateDir(a.process.Env); err != nil {
		return err
	}
	taken, err := lock.Take(ctx, lock.Request{Folder: stdlib.LockFolder(a.process.StateDir()),
		Name: "transect: the crontab", Wait: 10 * time.Second, Now: a.process.Now})
	if err != nil {
		return err
	}
	defer taken.Release()
	program := a.crontab()
	t, err := program.Read(ctx)
	if err != nil {
		return err
	}
	if err := change(t); err != nil {
		return err
	}
	return program.Write(ctx, t)
}

// slotLayout formats due times.
const slotLayout = "Mon 2006-01-02 15:04 MST"

// printTimes prints the first n times after another one.
func (a *app) printTimes(times *timetable.Times, after time.Time, n int) {
	for _, line := range nextTimes(times, after, n) {
		fmt.Fprintln(a.stdout, "  next  "+line)
	}
}

func nextTimes(times *timetable.Times, after time.Time, n int) (lines []string) {
	switch {
	case times == nil:
		return []string{"never: the time of the job is not valid"}
	case times.Reboot:
		return []string{"when the machine starts"}
	}
	for _, t := range times.Next(after, n) {
		lines = append(lines, t.Format(slotLayout))
	}
	return lines
}

// jobRuns lists the last runs of a job, newest first; none when the history cannot be read.
func (a *app) jobRuns(name string, limit int) []*history.Summary {
	runs, _ := unattended.History(a.process).List(limit, func(s *history.Summary) bool { return s.OfJob(name) })
	return runs
}

// outcome describes how a run ended in a few words.
func outcome(run *history.Summary) string {
	switch {
	case run.End == nil:
		return run.State
	case run.End.ExitCode == 0:
		return run.End.Outcome
	}
	return fmt.Sprintf("%s, exit code %d", run.End.Outcome, run.End.ExitCode)
}

func (a *app) cronShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a job and its last runs",
		Long:    "Show a job: its line in the crontab, its next times and its last runs.",
		Example: "  transect cron show nightly", Args: exactArgs(1, "NAME"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			j, _, err := a.cronJob(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, j.Line)
			if j.Off {
				fmt.Fprintln(a.stdout, "  paused: the line is commented out")
			} else {
				a.printTimes(j.Times, a.process.Now(), showTimes)
			}
			for _, run := range a.jobRuns(j.Name, showTimes) {
				fmt.Fprintf(a.stdout, "  run   %s  %s  %s\n", run.Started.In(a.process.Now().Location()).Format(time.DateTime),
					run.ID, outcome(run))
			}
			return nil
		},
	}
}

// completeJobs completes the names of jobs.
func (a *app) completeJobs(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if t, err := a.crontab().Read(cmd.Context()); err == nil && len(args) == 0 {
		for _, j := range t.Jobs() {
			names = append(names, j.Name)
		}
	}
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
