package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"transect/runtime/unattended/cron"
	"transect/runtime/vm"
	"transect/stdlib"
	"transect/stdlib/lock"
)

// nextTimes is how many of the next times are shown.
const nextTimes = 3

func (a *app) cron() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cron",
		Short: "Have cron run scripts",
		Long: `Have cron run scripts: jobs are lines in the user's crontab that are marked as
ours. All other lines stay as they are, byte for byte. TRANSECT_CRONTAB names
another program than crontab.`,
		Example: `  transect cron add nightly '30 2 * * *' --config platform.json sync.lua flights/
  transect cron list
  transect cron remove nightly`,
	}
	group(cmd)
	cmd.AddCommand(a.cronAdd(), a.cronList(), a.cronShow(), a.cronRemove())
	return cmd
}

func (a *app) crontab() cron.Program {
	path, _ := a.world.Env("TRANSECT_CRONTAB")
	return cron.Program{Path: path}
}

// changeCrontab changes the crontab; two of us do so one after the other.
func (a *app) changeCrontab(ctx context.Context, change func(*cron.Table) error) error {
	if err := vm.CheckStateDir(a.world.Env); err != nil {
		return err
	}
	turn, err := lock.Take(ctx, lock.Request{Folder: stdlib.LockFolder(a.world.StateDir()), Name: "transect: the crontab", Wait: 10 * time.Second, Now: a.world.Now})
	if err != nil {
		return err
	}
	defer turn.Release()
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

// tellTimes prints when a job fires next.
func (a *app) tellTimes(when *cron.Expression) {
	for _, line := range a.timesOf(when, nextTimes) {
		fmt.Fprintln(a.stdout(), "  next  "+line)
	}
}

func (a *app) timesOf(when *cron.Expression, n int) []string {
	switch {
	case when == nil:
		return []string{"never: cron does not understand the time"}
	case when.Reboot:
		return []string{"when the machine starts"}
	}
	var lines []string
	for _, t := range when.Next(a.world.Now(), n) {
		lines = append(lines, t.Format("Mon 2006-01-02 15:04 MST"))
	}
	return lines
}

// cronJob is a job for programs.
type cronJob struct {
	Name    string      `json:"name"`
	When    string      `json:"when"`
	On      bool        `json:"on"`
	Next    []time.Time `json:"next"`
	Command string      `json:"command"`
}

func (a *app) asJSON(j *cron.Job) cronJob {
	out := cronJob{Name: j.Name, When: j.Expr, On: !j.Off, Next: []time.Time{}, Command: j.Command}
	if j.When != nil && !j.Off {
		out.Next = append(out.Next, j.When.Next(a.world.Now(), nextTimes)...)
	}
	return out
}

func (a *app) cronList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the jobs", Long: "List the jobs of transect in the user's crontab, with the time each fires next.",
		Example: "  transect cron list", Args: wants(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, err := a.crontab().Read(cmd.Context())
			if err != nil {
				return err
			}
			jobs := t.Jobs()
			if asJSON {
				for _, j := range jobs {
					if err := a.encode(a.asJSON(j)); err != nil {
						return err
					}
				}
				return nil
			}
			if len(jobs) == 0 {
				fmt.Fprintln(a.world.Stderr, "there are no jobs; transect cron add makes one")
				return nil
			}
			rows := table.NewWriter()
			rows.SetOutputMirror(a.stdout())
			rows.SetStyle(table.StyleLight)
			rows.Style().Options = table.OptionsNoBordersAndSeparators
			rows.AppendHeader(table.Row{"name", "when", "next"})
			for _, j := range jobs {
				next := "off"
				if !j.Off {
					next = strings.Join(a.timesOf(j.When, 1), "")
				}
				rows.AppendRow(table.Row{j.Name, j.Expr, next})
			}
			rows.Render()
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a job")
	return cmd
}

func (a *app) cronShow() *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "Show a job and its last runs",
		Long:    "Show a job: its line in the crontab, the next times, and its last runs.",
		Example: "  transect cron show nightly", Args: wants(1, "NAME"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.crontab().Read(cmd.Context())
			if err != nil {
				return err
			}
			j, err := t.Find(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(a.stdout(), j.Line)
			if j.Off {
				fmt.Fprintln(a.stdout(), "  off: the line is commented out")
			} else {
				a.tellTimes(j.When)
			}
			runs, err := a.world.History().List(0)
			if err != nil {
				return nil // the job is what was asked for
			}
			shown := 0
			for _, run := range runs {
				if run.Lock != j.Name || shown == nextTimes {
					continue
				}
				shown++
				how := run.State
				if run.End != nil {
					how = fmt.Sprintf("%s, exit code %d", run.End.Outcome, run.End.ExitCode)
				}
				fmt.Fprintf(a.stdout(), "  run   %s  %s  %s\n", run.Started.Local().Format(time.DateTime), run.ID, how)
			}
			return nil
		},
	}
}

func (a *app) cronRemove() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a job", Long: "Remove a job from the user's crontab. What it logged stays.",
		Example: "  transect cron remove nightly", Args: wants(1, "NAME"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.changeCrontab(cmd.Context(), func(t *cron.Table) error {
				if _, err := t.Find(args[0]); err != nil {
					return err
				}
				t.Remove(args[0])
				return nil
			})
			if err == nil {
				fmt.Fprintf(a.stdout(), "removed %s\n", args[0])
			}
			return err
		},
	}
}
