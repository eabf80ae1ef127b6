// Package jobcmd adds jobs, schedules and workers to the command line.
package jobcmd

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
	"transect/runtime/vm"
)

// Part adds commands on jobs, schedules and workers, and the runs of jobs.
type Part struct{}

// Commands returns the commands of the part.
func (Part) Commands(a *cli.App) []cli.Command {
	c := commands{a}
	return []cli.Command{
		{Name: "submit", Group: cli.Scripting, Declare: c.submit}, {Name: "jobs", Group: cli.Scripting, Declare: c.jobs},
		{Name: "schedule", Group: cli.Scripting, Declare: c.schedule},
		{Name: "workers", Group: cli.Scripting, Declare: c.workers},
		{Name: "worker", Group: cli.Scripting, Declare: c.worker},
	}
}

// commands declares the commands of the part.
type commands struct{ *cli.App }

// AddFlag adds the flag for the address of the jobs database.
func AddFlag(cmd *cobra.Command, address *string) {
	cli.AddOptions(cmd.Flags(), addressOption(address))
}

func addressOption(address *string) cli.Option {
	return cli.Option{Name: "jobs", Env: "TRANSECT_JOBS", Kind: "URL", Where: cli.ByItself, Parse: cli.ToString(address),
		Doc: "where the jobs are: postgres://USER@HOST/DATABASE, shared by machines; " +
			"SQLite in the state folder when left out"}
}

// Open opens the database of a command that has the flag --jobs.
func Open(ctx context.Context, a *cli.App, cmd *cobra.Command, address *string) (*jobs.Store, error) {
	flag := pflag.NewFlagSet("jobs", pflag.ContinueOnError)
	flag.AddFlag(cmd.Flags().Lookup("jobs"))
	if err := a.ApplyEnvironment(flag); err != nil {
		return nil, err
	}
	if err := noPasswordInFlag(cmd, "jobs", *address); err != nil {
		return nil, err
	}
	if err := vm.CheckStateDir(a.Process.Env); err != nil {
		return nil, err
	}
	return jobs.Open(ctx, jobs.Config{URL: *address, StateDir: a.Process.StateDir()})
}

// noPasswordInFlag refuses an address with a password on the command line.
func noPasswordInFlag(cmd *cobra.Command, flag, address string) error {
	if _, has := jobs.Password(address); !has || !cmd.Flags().Changed(flag) {
		return nil
	}
	hint := "put the password into ~/.pgpass"
	if flag == "jobs" {
		hint = "put the address into TRANSECT_JOBS, or the password into ~/.pgpass"
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "--%s holds a password, which other users can see there", flag),
		"%s", hint)
}

// onJobsStore makes a command work on the jobs database and adds the flag for its address.
func (a commands) onJobsStore(cmd *cobra.Command, work func(context.Context, *jobs.Store, []string) error) {
	var address string
	AddFlag(cmd, &address)
	cmd.RunE = a.withJobs(&address, work)
}

// withJobs makes the RunE of a command that works on the jobs.
func (a commands) withJobs(address *string, work func(context.Context, *jobs.Store, []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, release := a.Process.CancelOnSignal(cmd.Context())
		defer release()
		store, err := Open(ctx, a.App, cmd, address)
		if err != nil {
			return err
		}
		defer store.Close()
		return work(ctx, store, args)
	}
}

// jobIDs reads the ids of the command line.
func jobIDs(args []string) (ids []int64, err error) {
	for _, text := range args {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%q is not the id of a job", text),
				"transect jobs lists them")
		}
		ids = append(ids, id)
	}
	return ids, nil
}
