package jobcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
)

func (a commands) scheduleList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List what runs at fixed times",
		Long: `List the schedules, which workers fire, and the jobs of transect cron on this machine,
with their next time and last outcome. A schedule is overdue when its slot has passed
and no worker has fired it.`,
		Example: "  transect schedule list", Args: cli.ExactArgs(0, ""),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, _ []string) error {
		schedules, workers, err := schedule.List(ctx, store)
		if err != nil {
			return err
		}
		var list []*cli.Planned
		for _, l := range schedules {
			list = append(list, ofWorker(l))
		}
		if !a.Crontab().Missing() {
			ofCron, err := a.CronPlanned(ctx)
			if err != nil && ctx.Err() != nil {
				return err
			}
			list = append(list, ofCron...) // none where the user may not use cron
		}
		if err := a.PrintPlanned(list, asJSON, "no schedules; add one with transect schedule add"); err != nil {
			return err
		}
		if workers == 0 && len(schedules) > 0 && !asJSON {
			fmt.Fprintln(a.Process.Stderr, "no worker is running to fire them; start one with: transect worker")
		}
		return nil
	})
	cli.JSONFlag[cli.Planned](cmd, &asJSON, "print one JSON object for each")
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

// ofWorker converts a schedule.
func ofWorker(l *schedule.Listed) *cli.Planned {
	spec := withoutTargets(l.Spec)
	p := cli.SlotsOf(l.Name, l.Rule)
	p.By, p.Paused, p.Overdue, p.Waiting, p.Job = "worker", l.Paused, l.Overdue, l.Waiting, &spec
	p.NextText, p.LastText, p.Title = nextOf(l), lastOf(l), l.Spec.Title()
	if times, err := l.Times(); err == nil && !l.Paused && !l.Next.IsZero() {
		p.Next = append([]time.Time{l.Next.UTC()}, times.Next(l.Next, cli.ShowTimes-1)...)
	}
	if l.Last != nil {
		p.Last = firedFacts(l.Last)
	}
	return p
}
