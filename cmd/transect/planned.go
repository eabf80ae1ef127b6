package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/human"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/timetable"
	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
)

// planned is a schedule or a cron job, as --json prints it.
type planned struct {
	Name    string      `json:"name"`
	When    string      `json:"when"`
	Zone    string      `json:"zone"` // "" is the machine's
	By      string      `json:"by"`   // cron or worker
	CatchUp string      `json:"catch_up"`
	Overlap string      `json:"overlap"`
	Paused  bool        `json:"paused"`
	Overdue bool        `json:"overdue"`
	Next    []time.Time `json:"next"`
	Waiting int         `json:"waiting"`           // slots
	Last    any         `json:"last"`              // run of cron or slot of a worker, or null
	Command string      `json:"command,omitempty"` // of cron
	Job     *jobs.Spec  `json:"job,omitempty"`     // of a worker

	next, last, script string // as the table prints them
}

func slotsOf(name string, rule timetable.Rule) *planned {
	return &planned{Name: name, When: rule.Expr, Zone: rule.Zone, CatchUp: rule.CatchUp, Overlap: rule.Overlap,
		Next: []time.Time{}}
}

// ofCron converts a crontab line.
func (a *app) ofCron(j *cron.Job) *planned {
	now := a.process.Now()
	p := slotsOf(j.Name, timetable.System(j.Expr))
	p.By, p.Paused, p.Command = "cron", j.Off, j.Command
	p.next, p.last, p.script = "paused", "never ran", j.Command
	if !j.Off {
		if p.next = strings.Join(nextTimes(j.Times, now, 1), ""); j.Times != nil {
			p.Next = append(p.Next, j.Times.Next(now, showTimes)...)
		}
	}
	for _, run := range a.jobRuns(j.Name, 1) {
		p.Overdue = run.State != history.Running && !j.Overdue(run.Started, now).IsZero()
		p.Last, p.last = run, run.Started.In(now.Location()).Format("2006-01-02 15:04")+"  "+outcome(run)
	}
	if folder, env, words, err := j.Words(); err == nil {
		if job, _, err := parseRun(a.cronProcess(folder, env), words[2:]); err == nil {
			p.script = jobs.Spec{Script: shorter(folder, job.Script), Args: job.Args}.Title()
		}
	}
	return p
}

// shorter shortens a path relative to its folder.
func shorter(folder, path string) string {
	if near, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(near) {
		return near
	}
	return path
}

// ofWorker converts a schedule.
func ofWorker(l *schedule.Listed) *planned {
	spec := withoutTargets(l.Spec)
	p := slotsOf(l.Name, l.Rule)
	p.By, p.Paused, p.Overdue, p.Waiting, p.Job = "worker", l.Paused, l.Overdue, l.Waiting, &spec
	p.next, p.last, p.script = nextOf(l), lastOf(l), l.Spec.Title()
	if times, err := l.Times(); err == nil && !l.Paused && !l.Next.IsZero() {
		p.Next = append([]time.Time{l.Next.UTC()}, times.Next(l.Next, showTimes-1)...)
	}
	if l.Last != nil {
		p.Last = firedFacts(l.Last)
	}
	return p
}

// printPlanned lists what runs at fixed times.
func (a *app) printPlanned(list []*planned, asJSON bool, none string) error {
	return listing[*planned]{
		header: human.Row{"name", "when", "zone", "by", "next", "last", "script"},
		row:    func(p *planned) human.Row { return human.Row{p.Name, p.When, p.Zone, p.By, p.next, p.last, p.script} },
		none:   none,
	}.print(a, list, asJSON)
}

// cronPlanned lists the jobs of the crontab.
func (a *app) cronPlanned(ctx context.Context) (list []*planned, err error) {
	table, err := a.crontab().Read(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range table.Jobs() {
		list = append(list, a.ofCron(j))
	}
	return list, nil
}

func (a *app) cronList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the jobs",
		Long:    "List the jobs of transect in the user's crontab with their next times and the outcome of their last runs.",
		Example: "  transect cron list", Args: exactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.cronPlanned(cmd.Context())
			if err != nil {
				return err
			}
			return a.printPlanned(list, asJSON, "no cron jobs; add one with transect cron add")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per job")
	return cmd
}

func (a *app) scheduleList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List what runs at fixed times",
		Long: `List the schedules, which workers fire, and the jobs of transect cron on this machine,
with their next time and last outcome. A schedule is overdue when its slot has passed
and no worker has fired it.`,
		Example: "  transect schedule list", Args: exactArgs(0, ""),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, _ []string) error {
		schedules, workers, err := schedule.List(ctx, store)
		if err != nil {
			return err
		}
		var list []*planned
		for _, l := range schedules {
			list = append(list, ofWorker(l))
		}
		if !a.crontab().Missing() {
			ofCron, err := a.cronPlanned(ctx)
			if err != nil && ctx.Err() != nil {
				return err
			}
			list = append(list, ofCron...) // none where the user may not use cron
		}
		if err := a.printPlanned(list, asJSON, "no schedules; add one with transect schedule add"); err != nil {
			return err
		}
		if workers == 0 && len(schedules) > 0 && !asJSON {
			fmt.Fprintln(a.process.Stderr, "no worker is running to fire them; start one with: transect worker")
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each")
	return cmd
}

func nextOf(l *schedule.Listed) string {
	switch {
	case l.Paused:
		return "paused"
	case l.Next.IsZero():
		return "never"
	case l.Overdue:
		return "overdue since " + slotTime(l.Next, l.Schedule)
	}
	return slotTime(l.Next, l.Schedule)
}

func lastOf(l *schedule.Listed) string {
	if l.Last == nil {
		return "not fired yet"
	}
	text := slotTime(l.Last.Due, l.Schedule) + "  " + l.Last.Became()
	if l.Waiting > 0 {
		text += fmt.Sprintf(", %d wait", l.Waiting)
	}
	return text
}
