package cli

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

// ShowTimes is how many of the next times, and of the last runs, are shown.
const ShowTimes = 3

func (a *App) cron() *cobra.Command {
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
	Group(cmd)
	cmd.AddCommand(a.cronAdd(), a.cronList(), a.cronShow(), a.cronRun(), a.cronLogs(), a.cronEdit(), a.cronPause(),
		a.cronResume(), a.cronRemove())
	return cmd
}

// Crontab returns the user's crontab.
func (a *App) Crontab() cron.Program { return cron.Program{Path: a.Process.Getenv("TRANSECT_CRONTAB")} }

// cronJob finds a job and the table it is in.
func (a *App) cronJob(ctx context.Context, name string) (*cron.Job, *cron.Table, error) {
	t, err := a.Crontab().Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	j, err := t.Find(name)
	return j, t, err
}

// ChangeCrontab changes the crontab under a lock.
func (a *App) ChangeCrontab(ctx context.Context, change func(*cron.Table) error) error {
	if err := vm.CheckStateDir(a.Process.Env); err != nil {
		return err
	}
	taken, err := lock.Take(ctx, lock.Request{Folder: stdlib.LockFolder(a.Process.StateDir()),
		Name: "transect: the crontab", Wait: 10 * time.Second, Now: a.Process.Now})
	if err != nil {
		return err
	}
	defer taken.Release()
	program := a.Crontab()
	t, err := program.Read(ctx)
	if err != nil {
		return err
	}
	if err := change(t); err != nil {
		return err
	}
	return program.Write(ctx, t)
}

// SlotLayout formats due times.
const SlotLayout = "Mon 2006-01-02 15:04 MST"

// PrintTimes prints the first n times after another one.
func (a *App) PrintTimes(times *timetable.Times, after time.Time, n int) {
	for _, line := range nextTimes(times, after, n) {
		fmt.Fprintln(a.Stdout, "  next  "+line)
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
		lines = append(lines, t.Format(SlotLayout))
	}
	return lines
}

// jobRuns lists the last runs of a job, newest first; none when the history cannot be read.
func (a *App) jobRuns(name string, limit int) []*history.Summary {
	runs, _ := unattended.History(a.Process).List(limit, func(s *history.Summary) bool { return s.OfJob(name) })
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

func (a *App) cronShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a job and its last runs",
		Long:    "Show a job: its line in the crontab, its next times and its last runs.",
		Example: "  transect cron show nightly", Args: ExactArgs(1, "NAME"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			j, _, err := a.cronJob(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(a.Stdout, j.Line)
			if j.Off {
				fmt.Fprintln(a.Stdout, "  paused: the line is commented out")
			} else {
				a.PrintTimes(j.Times, a.Process.Now(), ShowTimes)
			}
			for _, run := range a.jobRuns(j.Name, ShowTimes) {
				fmt.Fprintf(a.Stdout, "  run   %s  %s  %s\n", run.Started.In(a.Process.Now().Location()).Format(time.DateTime),
					run.ID, outcome(run))
			}
			return nil
		},
	}
}

// completeJobs completes the names of jobs.
func (a *App) completeJobs(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if t, err := a.Crontab().Read(cmd.Context()); err == nil && len(args) == 0 {
		for _, j := range t.Jobs() {
			names = append(names, j.Name)
		}
	}
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
