package cli

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/client/transport"
	"transect/client/wait"
	"transect/runtime/unattended"
	"transect/runtime/unattended/logfile"
)

// followInterval is how often the output of a run is read.
const followInterval = 250 * time.Millisecond

func (a *App) cronLogs() *cobra.Command {
	var follow bool
	lines := 0
	cmd := &cobra.Command{
		Use: "logs [-f] NAME", Short: "Show the log of a job",
		Long: `Show what the last run of a job printed, each line with its time, as the history
has it; -f follows it and the runs after it until Ctrl-C. The log file of the job
goes back further: transect cron show names it.`,
		Example: "  transect cron logs nightly\n  transect cron logs -f nightly\n  transect cron logs --lines 200 nightly",
		Args:    ExactArgs(1, "NAME"), ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			j, _, err := a.cronJob(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if len(a.jobRuns(j.Name, 1)) == 0 && !follow {
				return fault.Hinted(fault.Of(&fault.FileError{}, "the history has no run of the job %s", j.Name),
					"transect cron run %s runs it now", j.Name)
			}
			ctx, release := a.Process.CancelOnSignal(cmd.Context())
			defer release()
			return a.printLogs(ctx, j.Name, lines, follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new lines as they are written")
	AddOptions(cmd.Flags(), Option{Name: "lines", Kind: "N", Doc: "show the last N lines instead of the last run",
		Parse: ToCount(&lines)})
	return cmd
}

// printLogs prints the output of the last run of a job, or the last lines of its
// runs, and follows that and the runs after it until ctx ends.
func (a *App) printLogs(ctx context.Context, name string, lines int, follow bool) error {
	store, run, cursor := unattended.History(a.Process), "", ""
	for {
		newest := a.jobRuns(name, max(lines, 1))
		var text []byte
		if run != "" {
			var err error
			if text, cursor, _, err = store.LogAfter(run, cursor); err != nil {
				return unreadable(err)
			}
		}
		if lines > 0 && run != "" {
			for i := 1; i < len(newest) && bytes.Count(text, []byte("\n")) < lines; i++ {
				earlier, err := store.Log(newest[i].ID)
				if err != nil {
					return unreadable(err)
				}
				text = append(earlier, text...)
			}
			text, lines = logfile.LastLines(text, lines), 0
		}
		if _, err := io.WriteString(a.Stdout, transport.Redact(string(text))); err != nil {
			return err
		}
		switch {
		case len(newest) > 0 && newest[0].ID != run: // the output of the one before is complete
			run, cursor = newest[0].ID, ""
			continue
		case !follow:
			return nil
		case wait.Sleep(ctx, followInterval) != nil:
			return context.Cause(ctx)
		}
	}
}
