package jobcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
	"transect/runtime/jobs/schedule"
	"transect/runtime/timetable"
	"transect/runtime/unattended/cron"
)

func (a commands) scheduleImport() *cobra.Command {
	var zone, queue string
	var keep, dryRun bool
	cmd := &cobra.Command{
		Use: "import [flags] [NAME...]", Short: "Convert the jobs of transect cron to schedules",
		Long: `Convert the jobs of transect cron to schedules, all or the named ones: the same script, arguments, folder, variables and times, in the zone of this machine. Their
lines in the crontab are paused, so that nothing runs twice. Lock, log file, --quiet
and --resume are left out: jobs of a schedule run one at a time, their output is
kept with them, and they go on by themselves. A job that reads files of this
machine should stay on it: --queue NAME-OF-THIS-MACHINE.`,
		Example: `  transect schedule import --dry-run
  transect schedule import --queue field-office nightly
  transect cron resume nightly    # back to cron, after transect schedule remove nightly`,
		Args: func(*cobra.Command, []string) error { return nil },
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, names []string) error {
		table, err := a.Crontab().Read(ctx)
		if err != nil {
			return err
		}
		var chosen []*cron.Job
		for _, name := range names {
			j, err := table.Find(name)
			if err != nil {
				return err
			}
			chosen = append(chosen, j)
		}
		if len(names) == 0 {
			chosen = table.Jobs()
		}
		if len(chosen) == 0 {
			fmt.Fprintln(a.Process.Stderr, "the crontab has no transect jobs; add a schedule with transect schedule add")
			return nil
		}
		var failed error
		for _, j := range chosen {
			if err := a.importJob(ctx, store, j, zone, queue, dryRun, keep); err != nil {
				f := fault.Find(err)
				if f == nil {
					return err
				}
				fmt.Fprintf(a.Process.Stderr, "%s stays with cron: %s\n", j.Name,
					strings.TrimSuffix(f.Facts().Message+"; "+f.Facts().Hint, "; "))
				failed = fault.Of(&fault.UsageError{}, "not all jobs were imported")
			}
		}
		return failed
	})
	cli.AddOptions(cmd.Flags(),
		cli.Option{Name: "zone", Kind: "ZONE", Parse: cli.ToString(&zone),
			Doc: "the time zone of the expressions; this machine's if left out"},
		cli.Option{Name: "queue", Kind: "Q", Value: jobs.DefaultQueue, Parse: cli.ToString(&queue),
			Doc: "the queue of the jobs"})
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the crontab as it is: both run then")
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "print the commands that would do the same, change nothing")
	return cmd
}

// importJob makes a schedule of a job of cron, and pauses that.
func (a commands) importJob(ctx context.Context, store *jobs.Store, j *cron.Job, zone, queue string,
	dryRun, keep bool) error {
	if j.Off && !dryRun {
		if _, err := schedule.Get(ctx, store, j.Name); err == nil {
			fmt.Fprintf(a.Process.Stderr, "%s is a schedule already, and paused in the crontab\n", j.Name)
			return nil
		}
	}
	folder, env, words, err := j.Words()
	if err != nil {
		return err
	}
	other := commands{a.On(a.CronProcess(folder, env))}
	add := &cobra.Command{Use: "add"}
	add.SetFlagErrorFunc(other.FlagError)
	f := other.scheduleFlags(add)
	if words, err = importWords(a.On(a.Process).Root([]string{"run"}), add.Flags(), words); err != nil {
		return err
	}
	if queue != "" {
		words = append([]string{"--queue=" + queue}, words...)
	}
	rest, err := f.rest(add, words)
	if err != nil {
		return err
	}
	if dryRun {
		fmt.Fprintln(a.Stdout, cron.Command(folder, env,
			append([]string{"transect", "schedule", "add", j.Name, j.Expr}, words...)))
		return nil
	}
	other.Stdout = a.Stdout
	if zone == "" {
		zone = a.localZone()
	}
	s := &schedule.Schedule{Name: j.Name, Rule: timetable.Rule{Expr: j.Expr, Zone: zone}, Paused: j.Off}
	if err := other.addSchedule(ctx, store, f.jobFlags, s, rest, false); err != nil {
		return err
	}
	if keep || j.Off {
		return nil
	}
	err = a.ChangeCrontab(ctx, func(t *cron.Table) error {
		now, err := t.Find(j.Name)
		if err == nil {
			t.Add(now.Paused())
		}
		return err
	})
	if err != nil {
		return errors.Join(err, schedule.Remove(ctx, store, j.Name)) // rather once than twice
	}
	return nil
}

// importWords returns the flags and words of a transect run line of cron that schedule add accepts too.
func importWords(root *cobra.Command, known *pflag.FlagSet, words []string) ([]string, error) {
	run, _, err := root.Find([]string{"run"})
	if err != nil || len(words) < 3 || words[1] != "run" || !strings.HasPrefix(filepath.Base(words[0]), "transect") {
		return nil, fault.Of(&fault.UsageError{}, "its command is not transect run")
	}
	words = words[2:]
	run.InheritedFlags() // merges the global flags
	var kept []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			return append(kept, words[i:]...), nil
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			return append(kept, words[i:]...), nil
		}
		name, _, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		flag := run.Flags().Lookup(name)
		if flag == nil && len(name) > 0 && !strings.HasPrefix(word, "--") {
			flag = run.Flags().ShorthandLookup(name[:1])
		}
		if flag == nil {
			return nil, fault.Of(&fault.UsageError{}, "unknown flag %s", word)
		}
		took := []string{word}
		if !joined && flag.NoOptDefVal == "" && i+1 < len(words) {
			i++
			took = append(took, words[i])
		}
		option, declared := flag.Value.(*cli.OptionValue)
		switch {
		case known.Lookup(flag.Name) != nil:
			kept = append(kept, took...)
		case declared && option.Where&cli.ByItself != 0:
			return nil, fault.Of(&fault.UsageError{}, "a schedule cannot have --%s", flag.Name)
		}
	}
	return kept, nil
}
