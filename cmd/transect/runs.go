package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/client/transport"
	"transect/runtime/unattended/history"
	summary "transect/runtime/unattended/report"
	"transect/runtime/vm"
)

func (a *app) runs() *cobra.Command {
	var most howMany = 20
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Show the runs of this machine",
		Long: `Show the runs of this machine, newest first: when they started, how long they
took, how they ended, and how many items they worked on. A run whose process is
gone without a word, for it was killed or the machine went down, "ended without
saying".

The history is kept in the state folder (TRANSECT_STATE_DIR) and never holds
secrets. TRANSECT_HISTORY says how many runs are kept and how long: 500,90d;
off keeps none.`,
		Example: `  transect runs
  transect runs show last
  transect runs --json --limit 0`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "unknown command runs %s", args[0]), "%s", nearestCommand(cmd, args[0]))
			}
			history, err := a.history()
			if err != nil {
				return err
			}
			list, err := history.List(int(most))
			if err != nil {
				return fault.Of(&fault.FileError{}, "the history cannot be read: %w", err)
			}
			if asJSON {
				return a.runsJSON(list)
			}
			a.runsTable(list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a run")
	cmd.Flags().Var(&most, "limit", "show N runs; all when 0")
	cmd.AddCommand(a.runsShow(), a.runsPrune())
	return cmd
}

// history opens that of this user, and nobody else's.
func (a *app) history() (history.Store, error) {
	return a.world.History(), vm.CheckStateDir(a.world.Env)
}

func (a *app) runsJSON(list []*summary.Summary) error {
	out := json.NewEncoder(a.stdout())
	out.SetEscapeHTML(false)
	for _, run := range list {
		if err := out.Encode(run); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) runsTable(list []*summary.Summary) {
	if len(list) == 0 {
		fmt.Fprintln(a.world.Stderr, "there are no runs yet")
		return
	}
	now := a.world.Now()
	t := table.NewWriter()
	t.SetOutputMirror(a.stdout())
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.AppendHeader(table.Row{"ID", "start", "took", "exit", "outcome", "items", "script"})
	for _, run := range list {
		took, exit, outcome, items := run.Duration(now).Round(100*time.Millisecond).String(), "", run.State, ""
		if e := run.End; e != nil {
			exit, outcome, items = strconv.Itoa(e.ExitCode), e.Outcome, itemsOf(e)
		} else if run.State == summary.Lost {
			took = ""
		}
		t.AppendRow(table.Row{run.ID, run.Started.In(now.Location()).Format(time.DateTime), took, exit, outcome, items, filepath.Base(run.Script)})
	}
	t.Render()
}

func itemsOf(e *summary.End) string {
	switch {
	case e.ItemsFailed > 0:
		return fmt.Sprintf("%d, %d failed", e.ItemsDone+e.ItemsFailed, e.ItemsFailed)
	case e.ItemsDone > 0:
		return strconv.FormatInt(e.ItemsDone, 10)
	}
	return ""
}

func (a *app) runsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show one run and what it printed",
		Long: `Show one run and what it printed, each line with its time. ID may be the start
or the end of a run's ID, or last.`,
		Example: `  transect runs show last
  transect runs show 4be1`,
		Args:              wants(1, "ID"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			history, err := a.history()
			if err != nil {
				return err
			}
			run, fit, err := history.Find(args[0])
			switch {
			case err != nil:
				return fault.Of(&fault.FileError{}, "the history cannot be read: %w", err)
			case len(fit) > 1:
				return fault.Hinted(fault.Of(&fault.UsageError{}, "%d runs are called %s", len(fit), args[0]), "give more of the ID, such as %s", fit[0])
			case run == nil:
				return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no run %s", args[0]), "transect runs lists them")
			}
			log, err := history.Log(run.ID)
			if err != nil {
				return fault.Of(&fault.FileError{}, "the log of the run cannot be read: %w", err)
			}
			clean := transport.Redact(string(log))
			if asJSON {
				return a.encode(struct {
					*summary.Summary
					Log []string `json:"log"`
				}{run, strings.Split(strings.TrimSuffix(clean, "\n"), "\n")})
			}
			a.runText(run)
			fmt.Fprint(a.stdout(), "\n"+clean)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func (a *app) encode(v any) error {
	out := json.NewEncoder(a.stdout())
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// runText is a run for reading.
func (a *app) runText(run *summary.Summary) {
	now := a.world.Now()
	line := func(name, format string, args ...any) {
		fmt.Fprintf(a.stdout(), "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("run", "%s", run.ID)
	line("script", "%s", strings.Join(append([]string{run.Script}, run.Arguments...), " "))
	if run.Lock != "" {
		line("lock", "%s", run.Lock)
	}
	line("start", "%s", run.Started.In(now.Location()).Format(time.DateTime+" MST"))
	e := run.End
	if e == nil {
		line("state", "%s", run.State)
		return
	}
	line("end", "%s, after %s", e.At.In(now.Location()).Format(time.DateTime+" MST"), run.Duration(now).Round(time.Millisecond))
	line("outcome", "%s, exit code %d", e.Outcome, e.ExitCode)
	if items := itemsOf(e); items != "" {
		line("items", "%s", items)
	}
	if len(e.Operations) > 0 {
		total := int64(0)
		for _, n := range e.Operations {
			total += n.Count
		}
		line("operations", "%d calls of %d", total, len(e.Operations))
	}
	if e.Sent+e.Received > 0 {
		line("bytes", "%d sent, %d received", e.Sent, e.Received)
	}
	if e.Error != nil {
		line("error", "%s: %s", e.Error.Name, e.Error.Message)
	}
}

func (a *app) runsPrune() *cobra.Command {
	keep, age := howMany(500), "90d"
	cmd := &cobra.Command{
		Use:     "prune",
		Short:   "Forget old runs",
		Long:    `Forget all but the newest runs, and old ones. Each run does so by itself at its end; runs that are under way stay.`,
		Example: `  transect runs prune --keep 50 --older-than 30d`,
		Args:    wants(0, ""),
		RunE: func(*cobra.Command, []string) error {
			days, err := strconv.Atoi(strings.TrimSuffix(age, "d"))
			if err != nil || days < 0 || !strings.HasSuffix(age, "d") {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "--older-than %s is no number of days", age), "write it like 30d")
			}
			history, err := a.history()
			if err != nil {
				return err
			}
			forgotten, err := history.Prune(int(keep), a.world.Now().AddDate(0, 0, -days))
			if err != nil {
				return fault.Of(&fault.FileError{}, "the history cannot be read: %w", err)
			}
			fmt.Fprintf(a.stdout(), "forgot %d runs\n", forgotten)
			return nil
		},
	}
	cmd.Flags().Var(&keep, "keep", "keep the newest N runs")
	cmd.Flags().StringVar(&age, "older-than", age, "forget runs that are older than `DAYS`")
	return cmd
}
