package jobcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"transect/client/calendar"
	"transect/client/fault"
	"transect/client/human"
	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/timetable"
)

func (a commands) schedulePause() *cobra.Command {
	return a.scheduleSet("pause", "Pause a schedule",
		"Pause a schedule. Submitted jobs continue; waiting slots keep waiting.", "paused", true)
}

func (a commands) scheduleResume() *cobra.Command {
	return a.scheduleSet("resume", "Resume a paused schedule",
		`Resume a paused schedule. The slots that passed meanwhile are not caught up;
transect schedule backfill fills them in.`, "resumed", false)
}

func (a commands) scheduleSet(name, short, long, done string, paused bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " NAME", Short: short, Long: long, Example: "  transect schedule " + name + " nightly",
		Args: cli.ExactArgs(1, "NAME"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		s, err := schedule.Set(ctx, store, args[0], paused)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "%s %s\n", done, s.Name)
		if !paused {
			a.printNext(s, cli.ShowTimes)
		}
		return nil
	})
	return cmd
}

func (a commands) scheduleRemove() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove NAME", Short: "Remove a schedule",
		Long:    "Remove a schedule with its history. Its jobs and their logs are kept; a running job continues.",
		Example: "  transect schedule remove nightly", Args: cli.ExactArgs(1, "NAME"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		job, slots, err := schedule.InHand(ctx, store, args[0])
		if err == nil {
			err = schedule.Remove(ctx, store, args[0])
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "removed %s\n", args[0])
		if job > 0 {
			fmt.Fprintf(a.Process.Stderr, "its job %d continues; stop it with: transect jobs cancel %[1]d\n", job)
		}
		if slots > 0 {
			fmt.Fprintf(a.Process.Stderr, "%s still waiting will not run\n", human.Count(slots, "slot"))
		}
		return nil
	})
	return cmd
}

func (a commands) scheduleRun() *cobra.Command {
	var wait, follow bool
	cmd := &cobra.Command{
		Use: "run NAME", Short: "Submit the job of a schedule now",
		Long: `Submit the job of a schedule now, even if it is paused, and print the job's id.
While another job of the schedule is running, it waits for that.`,
		Example: "  transect schedule run nightly\n  transect schedule run --follow nightly", Args: cli.ExactArgs(1, "NAME"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		job, behind, err := schedule.RunNow(ctx, store, args[0])
		if err != nil {
			return err
		}
		if job == 0 {
			fmt.Fprintf(a.Process.Stderr, "waiting for job %d of the schedule; see: transect schedule history %s\n", behind,
				args[0])
			if !wait && !follow {
				return nil
			}
			if job, err = schedule.AwaitRun(ctx, store, args[0]); err != nil {
				return err
			}
		}
		if wait || follow {
			return a.finishJob(ctx, store, job, follow, false)
		}
		fmt.Fprintln(a.Stdout, job)
		return nil
	})
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the end of the job, and exit with its exit code")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "as --wait, and print the output of the job as it arrives")
	return cmd
}

func (a commands) scheduleBackfill() *cobra.Command {
	var from, to string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "backfill --from TIME [--to TIME] NAME", Short: "Fire slots that have passed",
		Long: `Fire the slots from one time up to, but not including, another (default: now).
Slots that were fired before are left alone. The jobs run one after the other, and
after those of the schedule; at most 1000 slots at once.

TIME is a date or a date with a time, in the zone of the schedule.`,
		Example: `  transect schedule backfill --from 2026-11-01 --to 2026-11-08 nightly
  transect schedule backfill --dry-run --from 2026-11-01T02:30 nightly`,
		Args: cli.ExactArgs(1, "NAME"),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, args []string) error {
		s, err := schedule.Get(ctx, store, args[0])
		if err != nil {
			return err
		}
		zone, err := timetable.Zone(s.Zone)
		if err != nil {
			return err
		}
		if from == "" {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "--from is missing"), "such as --from 2026-11-01")
		}
		var start, end time.Time
		if start, err = a.slotFlag("from", from, zone); err == nil && to != "" {
			end, err = a.slotFlag("to", to, zone)
		}
		if err != nil {
			return err
		}
		if to != "" && !start.Before(end) {
			return fault.Of(&fault.UsageError{}, "--to is not after --from")
		}
		slots, before, err := schedule.Backfill(ctx, store, s.Name, start, end, dryRun)
		if err != nil {
			return err
		}
		if dryRun {
			for _, slot := range slots {
				fmt.Fprintln(a.Stdout, slotTime(slot, s))
			}
		}
		switch text := human.Count(len(slots), "slot"); {
		case len(slots)+before == 0:
			fmt.Fprintf(a.Process.Stderr, "%s has no slots in that time\n", s.Name)
		case dryRun:
			fmt.Fprintf(a.Process.Stderr, "%s would run, %d have been fired before\n", text, before)
		default:
			how := ""
			if len(slots) > 1 {
				how = " one after the other"
			}
			fmt.Fprintf(a.Stdout, "%s of %s will run%s, %d have been fired before\n", text, s.Name, how, before)
			if s.Paused && len(slots) > 0 {
				fmt.Fprintf(a.Process.Stderr, "%s is paused: they wait until transect schedule resume %s\n", s.Name, s.Name)
			}
		}
		return nil
	})
	cmd.Flags().StringVar(&from, "from", "", "the first slot, at `TIME` or after it")
	cmd.Flags().StringVar(&to, "to", "", "fire slots before `TIME` only")
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "print the slots, fire none")
	return cmd
}

// slotFlag reads a time of the command line in the zone of a schedule.
func (a commands) slotFlag(name, text string, zone *time.Location) (time.Time, error) {
	at, err := calendar.Moment(text, a.Process.Now().In(zone), calendar.Past)
	if err != nil {
		return at, fault.Of(&fault.UsageError{}, "--%s %q: %w", name, text, err)
	}
	return at, nil
}
