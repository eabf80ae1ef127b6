package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/calendar"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/human/tabular"
	"transect/client/transport"
	"transect/client/verdict"
	"transect/runtime/unattended"
	"transect/runtime/unattended/history"
	"transect/runtime/vm"
)

func (a *App) runs() *cobra.Command {
	limit := 20
	var asJSON, failed bool
	var job string
	var since time.Time
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Show the runs of this machine",
		Long: `Show the runs of this machine, newest first: start, duration, outcome and number
of items. A run is "lost" when its process was killed or the machine went down. The runs
of jobs are listed with the jobs: transect jobs, transect runs show job-N.

The history is stored in the state folder (TRANSECT_STATE_DIR) and contains no
secrets. TRANSECT_HISTORY sets how many runs are kept and how long: 500,90d; off
keeps none.`,
		Example: `  transect runs
  transect runs show last
  transect runs --job nightly --failed --since 7d
  transect runs --json --limit 0`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownSubcommand(cmd, args[0])
			}
			store, err := a.History()
			if err != nil {
				return err
			}
			list, err := store.List(limit, func(run *history.Summary) bool {
				return (job == "" || run.OfJob(job)) && (!failed || run.Failed()) && !run.Started.Before(since)
			})
			if err != nil {
				return unreadable(err)
			}
			runs := a.runListing()
			if job != "" || failed || !since.IsZero() {
				runs.None = "there are no such runs"
			}
			return runs.Print(a, list, asJSON)
		},
	}
	JSONFlag[history.Summary](cmd, &asJSON, "print one JSON object per run")
	AddOptions(cmd.Flags(), Option{Name: "limit", Kind: "N", Value: "20", Doc: "show N runs; 0 for all",
		Parse: ToCount(&limit)})
	cmd.Flags().StringVar(&job, "job", "", "show the runs of the job `NAME` of cron")
	cmd.Flags().BoolVar(&failed, "failed", false, "show the runs that failed or were killed")
	AddOptions(cmd.Flags(), Option{Name: "since", Kind: "TIME",
		Doc: "show the runs since a date, such as 2026-11-20, or within a time, such as 12h or 7d",
		Parse: func(text string) (err error) {
			since, err = calendar.Moment(text, a.Process.Now(), calendar.Past)
			return err
		}})
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("job", a.completeJobs))
	cmd.AddCommand(a.runsShow(), a.runsAttach(), a.runsUndo(), a.runsVerify(), a.runsSettle(),
		a.runsForget(), a.runsPrune())
	return cmd
}

func (a *App) runListing() Listing[*history.Summary] {
	now := a.Process.Now()
	row := func(run *history.Summary) tabular.Row {
		took, exit, items := run.Duration(now).Round(100*time.Millisecond).String(), "", ""
		if e := run.End; e != nil {
			exit, items = strconv.Itoa(e.ExitCode), itemCount(e)
		} else if run.State == history.Lost {
			took = ""
		}
		script := filepath.Base(run.Script)
		if run.AgreedBy != "" {
			script += ", planned, agreed to by " + run.AgreedBy
		}
		return tabular.Row{run.ID, LocalTime(run.Started, now), took, exit, run.Outcome(), items, run.Job, script}
	}
	return Listing[*history.Summary]{Header: tabular.Row{"id", "start", "took", "exit", "outcome", "items", "job",
		"script"}, Row: row, None: "there are no runs yet"}
}

// History opens the user's history.
func (a *App) History() (history.Store, error) {
	return unattended.History(a.Process), vm.CheckStateDir(a.Process.Env)
}

func unreadable(err error) error {
	return fault.Of(&fault.FileError{}, "the history cannot be read: %w", err)
}

func itemCount(e *history.End) string {
	switch {
	case e.ItemsFailed > 0:
		return fmt.Sprintf("%d, %d failed", e.ItemsDone+e.ItemsFailed, e.ItemsFailed)
	case e.ItemsDone > 0:
		return strconv.FormatInt(e.ItemsDone, 10)
	}
	return ""
}

// shownRun is a run with its output, as --json prints it. writes is nil when it has no ledger.
type shownRun struct {
	history.Summary
	*writes
	Log []string `json:"log"`
}

func (a *App) runsShow() *cobra.Command {
	var asJSON bool
	var archive func() (Archive, error)
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one run and its output",
		Long: `Show one run and its output, each line with its time. ID may be the start or the
end of a run's ID, last, or job-N for the run of job N.`,
		Example: `  transect runs show last
  transect runs show 4be1`,
		Args:              ExactArgs(1, "ID"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			elsewhere, err := archive()
			if err != nil {
				return err
			}
			run, output, err := a.recordOf(cmd.Context(), args[0], elsewhere)
			if err != nil {
				return err
			}
			written, err := a.writesOf(cmd.Context(), run.RunID(), elsewhere)
			if err != nil {
				return err
			}
			if asJSON {
				return a.PrintJSON(shownRun{*run, written, strings.Split(strings.TrimSuffix(output, "\n"), "\n")}, "")
			}
			a.printRun(run)
			if written != nil {
				a.printWrites(written)
			}
			fmt.Fprint(a.Stdout, "\n"+output)
			return nil
		},
	}
	JSONFlag[shownRun](cmd, &asJSON, "print a JSON object")
	archive = a.archive(cmd)
	return cmd
}

func (a *App) runsAttach() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "attach [RUN]",
		Short: "Inspect a running script",
		Long: `Inspect a running script of this machine: its tasks and their positions, the variables
of their functions without secrets, and the files in transfer. Nothing is changed: the
script pauses for a moment between two instructions.

RUN is the start or the end of the ID of a run, the ID of its process, or the name of
the script; the newest run by default. A run can be inspected one second after its
start. The prompt does the same: :attach RUN.`,
		Example: `  transect runs attach
  transect runs attach survey.lua`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			view, err := unattended.Attach(a.Process, strings.Join(args, ""))
			if err != nil {
				return err
			}
			if asJSON {
				return a.PrintJSON(view, "")
			}
			fmt.Fprint(a.Stdout, view.Text(a.Process.Now()))
			return nil
		},
	}
	JSONFlag[unattended.View](cmd, &asJSON, "print a JSON object")
	return cmd
}

// attach formats a running script as the prompt does.
func (a *App) attach(name string) (string, error) {
	view, err := unattended.Attach(a.Process, name)
	if err != nil {
		return "", err
	}
	return view.Text(a.Process.Now()), nil
}

// recordOf reads the record of a run and its output, from the archive that has it, otherwise from the history.
func (a *App) recordOf(ctx context.Context, name string, elsewhere Archive) (run *history.Summary, output string,
	err error) {
	if elsewhere.Has(name) {
		return elsewhere.Record(ctx, name, archivedOutput)
	}
	store, err := a.History()
	if err != nil {
		return nil, "", err
	}
	if run, err = a.findRun(store, name); err != nil {
		return nil, "", err
	}
	log, err := store.Log(run.ID)
	if err != nil {
		return nil, "", fault.Of(&fault.FileError{}, "the log of the run cannot be read: %w", err)
	}
	return run, transport.Redact(string(log)), nil
}

// archivedOutput is how many lines of the output of an archived run are shown with it.
const archivedOutput = 1000

func (a *App) printRun(run *history.Summary) {
	now := a.Process.Now()
	line := a.Fact
	line("run", "%s", run.ID)
	line("script", "%s", strings.Join(append([]string{run.Script}, run.Arguments...), " "))
	line("job", "%s", run.Job)
	if run.Lock != "" && run.Lock != run.Job {
		line("lock", "%s", run.Lock)
	}
	line("asked by", "%s", run.AskedBy)
	line("plan", "%s", run.Plan)
	line("agreed by", "%s", run.AgreedBy)
	line("start", "%s", run.Started.In(now.Location()).Format(time.DateTime+" MST"))
	e := run.End
	if e == nil {
		line("state", "%s", run.Outcome())
		return
	}
	line("end", "%s, after %s", e.At.In(now.Location()).Format(time.DateTime+" MST"), human.Duration(run.Duration(now)))
	line("outcome", "%s, exit code %d", run.Outcome(), e.ExitCode)
	line("items", "%s", itemCount(e))
	var files []string
	for _, v := range verdict.All {
		if n := e.Files[string(v)]; n > 0 {
			files = append(files, fmt.Sprintf("%d %s", n, v.Text()))
		}
	}
	line("files", "%s", strings.Join(files, ", "))
	if len(e.Operations) > 0 {
		total := int64(0)
		for _, n := range e.Operations {
			total += n.Count
		}
		line("calls", "%d, operations: %d", total, len(e.Operations))
	}
	if w := e.Writes; w != nil && w.Taken+w.Adopted+w.SentAgain+w.Doubled > 0 {
		text := fmt.Sprintf("%d writes sent, %d taken from the ledger, %d found on the platform, %d sent again", w.Sent,
			w.Taken, w.Adopted, w.SentAgain)
		if w.Doubled > 0 {
			text += fmt.Sprintf(", %d done twice", w.Doubled)
		}
		line("this start", "%s", text)
	}
	if e.Sent+e.Received > 0 {
		line("bytes", "%d sent, %d received", e.Sent, e.Received)
	}
	if e.Error != nil {
		line("error", "%s: %s", e.Error.Name, e.Error.Message)
		for _, f := range e.Error.Frames {
			in := ""
			if f.Function != "" {
				in = " in " + f.Function
			}
			fmt.Fprintf(a.Stdout, "  %s:%d%s\n", human.Visible(f.File), f.Line, in)
			for _, v := range f.Locals {
				fmt.Fprintf(a.Stdout, "    %s = %s\n", v.Name, human.Line(v.Value))
			}
		}
	}
}

func (a *App) runsPrune() *cobra.Command {
	keep, age := 500, 90*24*time.Hour
	cmd := &cobra.Command{
		Use:     "prune",
		Short:   "Remove old runs from the history",
		Long:    `Remove old runs from the history. Each run does so at its end; runs in progress are kept.`,
		Example: `  transect runs prune --keep 50 --older-than 30d`,
		Args:    ExactArgs(0, ""),
		RunE: func(*cobra.Command, []string) error {
			store, err := a.History()
			if err != nil {
				return err
			}
			removed, err := store.Prune(keep, a.Process.Now().Add(-age))
			if err != nil {
				return unreadable(err)
			}
			fmt.Fprintf(a.Stdout, "removed %s\n", human.Count(removed, "run"))
			return nil
		},
	}
	AddOptions(cmd.Flags(),
		Option{Name: "keep", Kind: "N", Value: "500", Doc: "keep the newest N runs", Parse: ToCount(&keep)},
		Option{Name: "older-than", Kind: "duration", Value: "90d", Doc: "remove runs older than `DURATION`",
			Parse: ToDuration(&age)})
	return cmd
}
