package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/runtime/vm"
)

// jobsFlag adds the flag for the address of the jobs database.
func (a *app) jobsFlag(cmd *cobra.Command, address *string) {
	addOptions(cmd.Flags(), option{name: "jobs", env: "TRANSECT_JOBS", kind: "URL", parse: toString(address),
		doc: "where the jobs are: postgres://USER@HOST/DATABASE, shared by machines; " +
			"SQLite in the state folder when left out"})
}

// openJobs opens the database of a command that has the flag --jobs.
func (a *app) openJobs(ctx context.Context, cmd *cobra.Command, address *string) (*jobs.Store, error) {
	flag := pflag.NewFlagSet("jobs", pflag.ContinueOnError)
	flag.AddFlag(cmd.Flags().Lookup("jobs"))
	if err := a.applyEnvironment(flag); err != nil {
		return nil, err
	}
	if err := noPasswordInFlag(cmd, "jobs", *address); err != nil {
		return nil, err
	}
	if err := vm.CheckStateDir(a.process.Env); err != nil {
		return nil, err
	}
	return jobs.Open(ctx, jobs.Config{URL: *address, StateDir: a.process.StateDir()})
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
func (a *app) onJobsStore(cmd *cobra.Command, work func(context.Context, *jobs.Store, []string) error) {
	var address string
	a.jobsFlag(cmd, &address)
	cmd.RunE = a.withJobs(&address, work)
}

// withJobs makes the RunE of a command that works on the jobs.
func (a *app) withJobs(address *string, work func(context.Context, *jobs.Store, []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, release := a.process.CancelOnSignal(cmd.Context())
		defer release()
		store, err := a.openJobs(ctx, cmd, address)
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

// submitter names who submits a job.
func (a *app) submitter() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	if who, err := user.Current(); err == nil {
		return who.Username + "@" + host
	}
	return fmt.Sprintf("%d@%s", os.Getuid(), host)
}
