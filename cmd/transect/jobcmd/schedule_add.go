package jobcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/jobs/setting"
	"transect/runtime/timetable"
)

// scheduleFlags are the flags that describe a schedule: the settings of its rule and
// of its job, and the flags of transect run.
type scheduleFlags struct {
	timetable.Rule
	*jobFlags
	address string
}

func (a commands) scheduleFlags(cmd *cobra.Command) *scheduleFlags {
	f := &scheduleFlags{}
	setting.Complete(&f.Rule)
	cli.AddOptions(cmd.Flags(), settingOptions(setting.Of(&f.Rule))...)
	f.jobFlags = a.jobFlags(cmd)
	AddFlag(cmd, &f.address)
	return f
}

// rest parses the flags after the first n words, and returns what follows them.
func (f *scheduleFlags) rest(cmd *cobra.Command, words []string) ([]string, error) {
	flags := cmd.Flags()
	if err := flags.Parse(words); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil, err
		}
		return nil, cmd.FlagErrorFunc()(cmd, err)
	}
	return flags.Args(), cmd.ValidateFlagGroups()
}

// lateByDefault is how long after its time a job of a schedule counts as late.
const lateByDefault = 15 * time.Minute

func (a commands) scheduleAdd() *cobra.Command {
	var replace bool
	var f *scheduleFlags
	cmd := &cobra.Command{
		Use:   "add NAME 'EXPR' [flags] SCRIPT [ARGS...]",
		Short: "Submit a script as a job at fixed times",
		Long: `Submit a script as a job at fixed times. The script is packed now, with the
modules it requires: after a change of the script, name it to transect schedule
edit. In the arguments {slot} is the time of the slot, {slot_date} its date; scripts
find it in TRANSECT_SLOT as well, in UTC.

EXPR is a cron expression: minute hour day-of-month month day-of-week, each *, a
value, a range a-b, a step */n or a-b/n, or a list of those; or @hourly, @daily,
@weekly, @monthly, @yearly. When both days are given, either matches.

When clocks are set forward, a slot at a fixed time that does not exist is fired
when they are set; when they are set back, one whose time comes twice is fired the
first time. With * for minute or hour slots follow the clock.

The newest slot counts as fired in time when it is at most five minutes late;
--catch-up decides about others that are late. One job of a schedule runs at a
time. --on-failure also reports slots that were not fired, or whose job has not
started 15 minutes after its time (--late); a URL can stay with the workers:
env:NAME means their variable NAME.`,
		Example: `  transect schedule add nightly '30 2 * * *' --zone Europe/Paris --profile company \
      season.lua --day '{slot_date}'
  transect schedule add sync '*/15 8-18 * * mon-fri' --on field-office --overlap skip \
      --on-failure mailto:ops@example.com sync.lua`,
		Args: cli.AtLeast("NAME", "EXPR, such as '30 2 * * *',", "SCRIPT"),
	}
	f = a.scheduleFlags(cmd)
	cmd.Flags().Lookup("when").Hidden = true // it is an argument
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the schedule of this name")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, err := f.rest(cmd, args[2:])
		if errors.Is(err, pflag.ErrHelp) {
			return cmd.Help()
		}
		if err != nil {
			return err
		}
		return a.withJobs(&f.address, func(ctx context.Context, store *jobs.Store, words []string) error {
			s := &schedule.Schedule{Name: args[0], Rule: f.Rule}
			s.Expr = args[1]
			return a.addSchedule(ctx, store, f.jobFlags, s, words, replace)
		})(cmd, words)
	}
	return cmd
}

// addSchedule keeps a schedule of the command line.
func (a commands) addSchedule(ctx context.Context, store *jobs.Store, f *jobFlags, s *schedule.Schedule, words []string,
	replace bool) error {
	if s.Zone == "" {
		s.Zone = a.localZone()
	}
	if _, err := s.Times(); err != nil {
		return err
	}
	spec, err := a.packedJob(ctx, store, f, words)
	if err != nil {
		return err
	}
	if s.Spec = spec; spec.OnFailure != "" && !f.cmd.Flags().Changed("late") {
		s.Spec.Late = lateByDefault
	}
	if err := schedule.Add(ctx, store, s, replace); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "added %s\n", s.Name)
	a.printNext(s, cli.ShowTimes)
	a.warnWithoutWorker(ctx, store, s.Spec.Queue)
	return nil
}

// packedJob makes a job, and keeps its script.
func (a commands) packedJob(ctx context.Context, store *jobs.Store, f *jobFlags, words []string) (jobs.Spec, error) {
	spec, packed, err := a.jobSpec(ctx, f, words)
	if err == nil && packed != nil {
		_, err = store.PutBundle(ctx, packed)
	}
	return spec, err
}

// localZone returns the name of the machine's time zone; "" if unknown.
func (a commands) localZone() string {
	if name, given := a.Process.Env("TZ"); given {
		if name = strings.TrimPrefix(name, ":"); name == "" {
			return "UTC"
		}
		_, named, found := strings.Cut(name, "/zoneinfo/")
		if found {
			return named
		}
		return name
	}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, found := strings.Cut(target, "/zoneinfo/"); found {
			return name
		}
	}
	if text, err := os.ReadFile("/etc/timezone"); err == nil {
		return strings.TrimSpace(string(text))
	}
	return "UTC"
}

func (a commands) scheduleEdit() *cobra.Command {
	var f *scheduleFlags
	cmd := &cobra.Command{
		Use:   "edit NAME [flags] [SCRIPT [ARGS...]]",
		Short: "Change a schedule",
		Long: `Change a schedule: what the flags name, and with SCRIPT the script, which is packed
as it is now, its arguments and its folder, and the flags of transect run that are
given. The rest is kept; an empty value, as in --on-failure '', removes a setting. When its times
change, the next slot is the first one from now on. Submitted jobs do not change.`,
		Example: `  transect schedule edit nightly --when '0 4 * * *'
  transect schedule edit nightly --queue gpu --on-failure env:OPS_HOOK
  transect schedule edit nightly --local survey.lua flights/`,
		Args: cli.AtLeast("NAME"),
	}
	f = a.scheduleFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words, err := f.rest(cmd, args[1:])
		if errors.Is(err, pflag.ErrHelp) {
			return cmd.Help()
		}
		if err != nil {
			return err
		}
		return a.withJobs(&f.address, func(ctx context.Context, store *jobs.Store, words []string) error {
			if given := cli.Carried(cmd.Flags()); len(words) == 0 && len(given) > 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "%s belongs to the script", given[0]),
					"name the script and its arguments, too")
			}
			var spec jobs.Spec
			if len(words) > 0 {
				if spec, err = a.packedJob(ctx, store, f.jobFlags, words); err != nil {
					return err
				}
			}
			var before schedule.Schedule
			s, err := schedule.Edit(ctx, store, args[0], func(s *schedule.Schedule) error {
				before = *s
				if len(words) > 0 {
					spec.Settings, spec.Run = s.Spec.Settings, keptFlags(s.Spec.Run, spec.Run)
					s.Spec = spec
				}
				if !a.setSchedule(s, cmd) && len(words) == 0 {
					return fault.Hinted(fault.Of(&fault.UsageError{}, "nothing to change"),
						"give a flag or a script, see: transect schedule edit --help")
				}
				return a.noSecret([]string{"--on-failure=" + s.Spec.OnFailure, "--ping=" + s.Spec.Ping})
			})
			if err != nil {
				return err
			}
			a.printChanges(&before, s)
			a.printNext(s, cli.ShowTimes)
			return nil
		})(cmd, words)
	}
	return cmd
}

// keptFlags returns the flags of transect run that stand after an edit: those given, and of the earlier ones those
// that none given replaces. The flags that name a platform replace one another.
func keptFlags(before, given []string) []string {
	replaces := func(flag string) string {
		name, _, _ := strings.Cut(flag, "=")
		if slices.Contains([]string{"--local", "--local-dir", "--profile", "--config", "--url"}, name) {
			return "platform"
		}
		return name
	}
	kept := slices.DeleteFunc(slices.Clone(before), func(flag string) bool {
		return slices.ContainsFunc(given, func(g string) bool { return replaces(g) == replaces(flag) })
	})
	kept = append(kept, given...)
	return slices.DeleteFunc(kept, func(flag string) bool { return strings.HasSuffix(flag, "=") })
}

// setSchedule applies the given flags of a command.
func (a commands) setSchedule(s *schedule.Schedule, cmd *cobra.Command) (touched bool) {
	flags, quiet := cmd.Flags(), s.Spec.OnFailure == ""
	for _, d := range s.Settings() {
		if f := flags.Lookup(d.Name); f.Changed {
			cobra.CheckErr(d.Set(f.Value.String())) // it was parsed before
			touched = true
		}
	}
	if on := flags.Lookup("on"); on.Changed {
		s.Spec.Queue, touched = on.Value.String(), true
	}
	if s.Zone == "" {
		s.Zone = a.localZone()
	}
	if quiet && flags.Changed("on-failure") && !flags.Changed("late") {
		s.Spec.Late = lateByDefault
	}
	return touched
}
