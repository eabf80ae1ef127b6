package jobcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/human"
	"transect/client/human/tabular"
	"transect/cmd/transect/cli"
	"transect/runtime/jobs"
)

func (a commands) jobsStats() *cobra.Command {
	var asJSON bool
	within := 24 * time.Hour
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Sum up the jobs",
		Long: "Sum up the jobs: what is queued and running, how those of the last day ended, how long they waited and " +
			"took.",
		Example: "  transect jobs stats\n  transect jobs stats --within 12h",
		Args:    cli.ExactArgs(0, ""),
	}
	a.onJobsStore(cmd, func(ctx context.Context, store *jobs.Store, _ []string) error {
		stats, err := store.Stats(ctx, within)
		if err != nil {
			return err
		}
		if asJSON {
			return a.PrintJSON(stats, "  ")
		}
		a.printStats(stats, within)
		return nil
	})
	cli.AddOptions(cmd.Flags(), cli.Option{Name: "within", Kind: "duration", Value: "24h",
		Doc: "look at the jobs that ended within `DURATION`", Parse: cli.ToDuration(&within)})
	cli.JSONFlag[jobs.Stats](cmd, &asJSON, "print a JSON object")
	return cmd
}

func (a commands) printStats(stats *jobs.Stats, within time.Duration) {
	open := []jobs.State{jobs.Waiting, jobs.Scheduled, jobs.Running, jobs.Retrying}
	header := tabular.Row{"queue"}
	for _, state := range open {
		header = append(header, state)
	}
	var rows []tabular.Row
	for queue, states := range stats.Queues {
		row := tabular.Row{queue}
		for _, state := range open {
			row = append(row, states[state])
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b tabular.Row) int { return strings.Compare(a[0].(string), b[0].(string)) })
	if len(rows) > 0 {
		a.PrintTable(header, rows)
		fmt.Fprintln(a.Stdout)
	}
	fmt.Fprintf(a.Stdout, "%-11s %s\n", "ended", cmp.Or(stats.Ended.String(), "none")+" within "+human.Duration(within))
	if stats.Wait > 0 || stats.Run > 0 {
		fmt.Fprintf(a.Stdout, "%-11s waited %s, took %s\n", "median", human.Duration(stats.Wait), human.Duration(stats.Run))
	}
	fmt.Fprintf(a.Stdout, "%-11s %d with %d slots\n", "workers", stats.Workers, stats.Slots)
	fmt.Fprintf(a.Stdout, "%-11s %s\n", "database", human.Size(stats.Size))
}

func (a commands) jobsRoles() *cobra.Command {
	return &cobra.Command{
		Use: "roles", Short: "Print the SQL of roles for PostgreSQL",
		Long: `Print the SQL that makes roles with the least rights for viewers, submitters and
workers of a database on PostgreSQL. Its owner runs it, and again after each update.`,
		Example: "  transect jobs roles | psql postgres://owner@db.example.com/jobs", Args: cli.ExactArgs(0, ""),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.Stdout, jobs.Roles)
			return err
		},
	}
}
