package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime/jobs"
)

func (a *app) jobsCopy() *cobra.Command {
	var address, to string
	cmd := &cobra.Command{
		Use: "copy --to URL", Short: "Copy jobs and schedules to another database",
		Long: `Copy all jobs with their logs, ledgers and results, the schedules and the scripts to
another database, which must hold none: from SQLite to PostgreSQL when a second
machine joins, or back (--to sqlite:FILE; --to sqlite is the state folder). Ids
stay. No worker may run meanwhile; jobs that were running go on in the new place.

The jobs of the old place are left as they are: let no worker run there again, or
pause the schedules and cancel the jobs that wait.`,
		Example: `  transect jobs copy --to postgres://me@db.example.com/jobs
  transect jobs copy --jobs postgres://me@db.example.com/jobs --to sqlite`,
		Args: exactArgs(0, ""),
	}
	cmd.RunE = a.withJobs(&address, func(ctx context.Context, store *jobs.Store, _ []string) error {
		config := jobs.Config{URL: to, StateDir: a.process.StateDir()}
		switch to {
		case "":
			return fault.Hinted(fault.Of(&fault.UsageError{}, "--to is missing"), "such as --to postgres://me@db.example.com/jobs")
		case "sqlite", "sqlite:":
			config.URL = ""
		}
		if err := noPasswordInFlag(cmd, "to", to); err != nil {
			return err
		}
		target, err := jobs.Open(ctx, config)
		if err != nil {
			return err
		}
		defer target.Close()
		if target.Name() == store.Name() {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "the jobs are in %s already", store.Name()), "--jobs names where they are, --to where they go")
		}
		n, err := store.Copy(ctx, target)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "copied %s and %s, %d rows, from %s to %s\n", human.Count(n.Jobs, "job"), human.Count(n.Schedules, "schedule"), n.Rows, store.Name(), target.Name())
		if target.Postgres() {
			fmt.Fprintf(a.process.Stderr, "from now on set TRANSECT_JOBS=%s, for workers as well\n", target.Name())
		}
		return nil
	})
	a.jobsFlag(cmd, &address)
	cmd.Flags().StringVar(&to, "to", "", "the `URL` of the other database")
	return cmd
}

func (a *app) jobsRoles() *cobra.Command {
	return &cobra.Command{
		Use: "roles", Short: "Print the SQL of roles for PostgreSQL",
		Long: `Print the SQL that makes roles with the least rights for viewers, submitters and
workers of a database on PostgreSQL. Its owner runs it, after each update again.`,
		Example: "  transect jobs roles | psql postgres://owner@db.example.com/jobs", Args: exactArgs(0, ""),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.stdout, jobs.Roles)
			return err
		},
	}
}
