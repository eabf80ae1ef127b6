package jobcmd

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/human/tabular"
	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/timetable"
	"transect/runtime/unattended/notice"
)

func (a commands) schedule() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Submit jobs on a schedule",
		Long: `Submit jobs on a schedule. Schedules are stored in the jobs database; any worker
fires any of them, and each slot (a due time of a schedule) is fired once. See
docs/schedules.md.`,
		Example: `  transect schedule add nightly '30 2 * * *' --zone Europe/Paris --local survey.lua flights/
  transect schedule list
  transect schedule run nightly
  transect schedule history nightly`,
	}
	cli.Group(cmd)
	cmd.AddCommand(a.scheduleAdd(), a.scheduleList(), a.scheduleShow(), a.scheduleHistory(), a.scheduleRun(),
		a.schedulePause(), a.scheduleResume(), a.scheduleEdit(),
		a.scheduleBackfill(), a.scheduleImport(), a.scheduleRemove())
	return cmd
}

// slotTime formats a time in the zone of a schedule.
func slotTime(t time.Time, s *schedule.Schedule) string {
	zone, err := timetable.Zone(s.Zone)
	if err != nil {
		zone = time.UTC
	}
	return t.In(zone).Format(cli.SlotLayout)
}

// printNext prints the next slots of a schedule.
func (a commands) printNext(s *schedule.Schedule, n int) {
	switch times, err := s.Times(); {
	case s.Paused:
		fmt.Fprintln(a.Stdout, "  paused")
	case err == nil && s.Next.IsZero():
		fmt.Fprintln(a.Stdout, "  next  never")
	case err == nil:
		a.PrintTimes(times, s.Next.Add(-time.Millisecond), n)
	}
}

// firedJSON is a slot as --json prints it.
type firedJSON struct {
	Slot     time.Time  `json:"slot"`
	Last     *time.Time `json:"last,omitempty"` // of several missed ones
	Slots    int        `json:"slots"`
	How      string     `json:"how"`
	State    string     `json:"state"`
	Job      int64      `json:"job,omitempty"`
	Outcome  string     `json:"outcome,omitempty"`
	ExitCode *int       `json:"exit_code"`
	Started  *time.Time `json:"started"`
	Ended    *time.Time `json:"ended"`
}

func firedFacts(f *schedule.Fired) *firedJSON {
	if f == nil {
		return nil
	}
	return &firedJSON{f.Due.UTC(), jobs.Stamp(f.Last), f.Slots, f.How, f.State, f.Job, f.Outcome, f.ExitCode,
		jobs.Stamp(f.Started), jobs.Stamp(f.Ended)}
}

// withoutTargets hides the addresses that notices are sent to: they are secrets.
func withoutTargets(spec jobs.Spec) jobs.Spec {
	spec.OnFailure, spec.Ping = hideTarget(spec.OnFailure), hideTarget(spec.Ping)
	return spec
}

func hideTarget(target string) string {
	scheme, _, found := strings.Cut(target, "://")
	if found && !notice.IsCommand(target) {
		return scheme + "://…"
	}
	return target
}

func (a commands) scheduleShow() *cobra.Command {
	times := cli.ShowTimes
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a schedule and its last slots",
		Long: "Show a schedule: its job, its next slots and the outcomes of the last ones.",
		Example: "  transect schedule show nightly\n  transect schedule show --next 200 nightly    # also over the days " +
			"when clocks are set", Args: cli.ExactArgs(1, "NAME"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		s, err := schedule.Get(ctx, store, args[0])
		if err != nil {
			return err
		}
		a.printSchedule(s, times)
		list, err := schedule.History(ctx, store, s.Name, cli.ShowTimes)
		for _, f := range list {
			fmt.Fprintf(a.Stdout, "  last  %s  %s\n", slotTime(f.Due, s), f.Became())
		}
		return err
	})
	cli.AddOptions(cmd.Flags(), cli.Option{Name: "next", Kind: "N", Value: strconv.Itoa(cli.ShowTimes),
		Doc: "show the next N slots", Parse: cli.ToNumber(&times, 1, 1000)})
	return cmd
}

func (a commands) scheduleHistory() *cobra.Command {
	var asJSON bool
	limit := 20
	cmd := &cobra.Command{
		Use: "history NAME", Short: "Show the past slots of a schedule",
		Long: `Show the slots of a schedule, newest first: fired in time (slot), caught up, run
by hand, filled in (backfill), or left out: missed while no worker was there,
skipped because a job was running, replaced by a later one.`,
		Example: "  transect schedule history nightly", Args: cli.ExactArgs(1, "NAME"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		s, err := schedule.Get(ctx, store, args[0])
		if err != nil {
			return err
		}
		list, err := schedule.History(ctx, store, s.Name, limit)
		if err != nil {
			return err
		}
		row := func(f *schedule.Fired) tabular.Row {
			job, exit, took := "", "", ""
			if f.Job > 0 {
				job = strconv.FormatInt(f.Job, 10)
			}
			if f.ExitCode != nil {
				exit = strconv.Itoa(*f.ExitCode)
			}
			if !f.Ended.Before(f.Started) && !f.Started.IsZero() {
				took = f.Ended.Sub(f.Started).Round(100 * time.Millisecond).String()
			}
			return tabular.Row{slotTime(f.Due, s), f.How, job, f.Became(), exit, cli.LocalTime(f.Started, a.Process.Now()), took}
		}
		return cli.Listing[*schedule.Fired]{
			Header: tabular.Row{"slot", "how", "job", "outcome", "exit", "start", "took"}, Row: row,
			Object: func(f *schedule.Fired) any { return firedFacts(f) },
			None:   fmt.Sprintf("no slot of %s has passed yet", s.Name),
		}.Print(a.App, list, asJSON)
	})
	cli.AddOptions(cmd.Flags(), cli.Option{Name: "limit", Kind: "N", Value: "20", Doc: "show N slots",
		Parse: cli.ToCount(&limit)})
	cli.JSONFlag[firedJSON](cmd, &asJSON, "print one JSON object per slot")
	return cmd
}

func (a commands) printSchedule(s *schedule.Schedule, times int) {
	for _, line := range scheduleLines(s) {
		if line.shown != "" {
			fmt.Fprintf(a.Stdout, "%-11s %s\n", line.name, line.shown)
		}
	}
	a.printNext(s, times)
}

// printChanges prints what an edit has changed.
func (a commands) printChanges(before, after *schedule.Schedule) {
	old, changed := scheduleLines(before), ""
	for i, now := range scheduleLines(after) {
		if old[i].value != now.value {
			changed += fmt.Sprintf("  %-10s %s → %s\n", now.name, cmp.Or(old[i].shown, "none"), cmp.Or(now.shown, "none"))
		}
	}
	if changed == "" {
		fmt.Fprintf(a.Stdout, "%s is unchanged\n", after.Name)
		return
	}
	fmt.Fprintf(a.Stdout, "changed %s\n%s", after.Name, changed)
}

// scheduleLine is a setting of a schedule; shown returns its value without secrets, "" for none.
type scheduleLine struct{ name, value, shown string }

func scheduleLines(s *schedule.Schedule) (lines []scheduleLine) {
	line := func(name, value string) { lines = append(lines, scheduleLine{name, value, value}) }
	line("schedule", s.Name)
	line("script", s.Spec.Title())
	line("flags", strings.Join(append(append([]string{}, s.Spec.Env...), s.Spec.Run...), " "))
	line("folder", s.Spec.Folder)
	line("content", fmt.Sprintf("%.12s", s.Spec.Bundle))
	for _, d := range s.Settings() {
		shown := d.String()
		if d.Secret() {
			shown = hideTarget(shown)
		}
		lines = append(lines, scheduleLine{d.Name, d.String(), shown})
	}
	line("by", s.Spec.User)
	return lines
}
