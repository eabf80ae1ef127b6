package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/human"
	"transect/runtime"
	"transect/runtime/runledger"
	"transect/runtime/unattended/cron"
	"transect/runtime/undo"
	"transect/runtime/vm"
)

func (a *App) runsUndo() *cobra.Command {
	return a.overWrites("undo", "Delete what a run created, restore what it deleted",
		`Delete what a run created, newest first, and restore what it deleted, as far as
the platform can: datasets of its ingests as well. What cannot be undone is named:
fields that were set (their former values are not recorded), products, objects that
were deleted for good. What other users or runs have changed or filled since is
kept, and named. A second undo does nothing. --dry-run shows what would be done; at
a terminal that is shown first, with a question. Platform and login are the run's
unless others are named.`,
		`  transect runs undo --dry-run nightly-1122
  transect runs undo nightly-1122`, undo.Undo,
		[]string{undo.OutcomeDeleted, undo.OutcomeRestored, undo.OutcomeGone, undo.OutcomeKept,
			undo.OutcomeFailed})
}

func (a *App) runsVerify() *cobra.Command {
	return a.overWrites("verify", "Compare what a run created with the platform",
		`Compare what a run created and deleted with the platform. The exit code is 3 when
something is missing, or is there that the run deleted. The files of its ingests
are not compared: transect verify FOLDER does that. Platform and login are the run's
unless others are named.`,
		`  transect runs verify nightly-1122`, undo.Verify,
		[]string{undo.OutcomeThere, undo.OutcomeGone, undo.OutcomeMissing, undo.OutcomeFailed})
}

// overWrites goes through the writes of a run on the platform.
type overWrites func(context.Context, *runtime.Process, runtime.Job, runledger.Archive, string,
	func(undo.Finding)) error

// overWrites declares a command that runs such a function.
func (a *App) overWrites(name, short, long, example string,
	do overWrites, outcomes []string) *cobra.Command {
	var job runtime.Job
	var asJSON, yes bool
	var archive func() (Archive, error)
	cmd := &cobra.Command{
		Use: name + " [flags] RUN", Short: short, Long: long, Example: example, Args: ExactArgs(1, "RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.Complete(cmd.Flags(), &job); err != nil {
				return err
			}
			elsewhere, err := archive()
			if err != nil {
				return err
			}
			run, err := a.ledgerOf(args[0], elsewhere)
			if err != nil {
				return err
			}
			if job.Connection == (runtime.Connection{}) {
				job.Connection = a.connectionOf(cmd.Context(), run, elsewhere)
			}
			if cmd.Flags().Lookup("yes") != nil && !yes && !job.DryRun && a.Process.IsTerminal(a.Process.Stdin) {
				if agreed, err := a.agreesTo(cmd.Context(), job, elsewhere, run, do); err != nil || !agreed {
					return err
				}
			}
			counts := map[string]int{}
			err = do(cmd.Context(), a.Process, job, elsewhere, run, func(f undo.Finding) {
				counts[f.Outcome]++
				switch {
				case asJSON:
					_ = a.PrintJSON(f, "") // the first error is kept
				case f.Outcome != undo.OutcomeThere && f.Outcome != undo.OutcomeGone:
					a.printFinding(f, job.DryRun)
				}
			})
			if err != nil {
				return err
			}
			if !asJSON {
				var parts []string
				for _, outcome := range outcomes {
					if n := counts[outcome]; n > 0 {
						parts = append(parts, fmt.Sprintf("%d %s", n, wouldBe(outcome, job.DryRun)))
					}
				}
				if parts == nil {
					parts = []string{"it has written nothing"}
				}
				fmt.Fprintf(a.Stdout, "%s: %s\n", run, strings.Join(parts, ", "))
			}
			if counts[undo.OutcomeFailed]+counts[undo.OutcomeMissing] > 0 {
				return &vm.Exit{Code: runtime.ExitPartial}
			}
			return nil
		},
	}
	a.CallFlags(cmd.Flags(), &job)
	archive = a.archive(cmd)
	JSONFlag[undo.Finding](cmd, &asJSON, "print one JSON object per thing")
	if name == "undo" {
		cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	}
	return cmd
}

// mostShown limits the items listed before a question.
const mostShown = 50

// agreesTo shows what would be done to a run's writes, and asks for confirmation.
func (a *App) agreesTo(ctx context.Context, job runtime.Job, elsewhere Archive, run string,
	do overWrites) (bool, error) {
	job.DryRun = true
	n := 0
	err := do(ctx, a.Process, job, elsewhere, run, func(f undo.Finding) {
		if f.Outcome == undo.OutcomeDeleted || f.Outcome == undo.OutcomeRestored {
			if n++; n <= mostShown {
				a.printFinding(f, true)
			}
		}
	})
	if err != nil || n == 0 {
		return err == nil, err
	}
	if n > mostShown {
		fmt.Fprintf(a.Stdout, "… and %d more\n", n-mostShown)
	}
	ctx, release := a.Process.CancelOnSignal(ctx)
	defer release()
	agreed, err := a.Process.Confirm(ctx, "Do this?")
	if err == nil && !agreed {
		fmt.Fprintln(a.Stdout, "nothing was done")
	}
	return agreed, err
}

// wouldBe words an outcome of a dry run.
func wouldBe(outcome string, dryRun bool) string {
	if dryRun && (outcome == undo.OutcomeDeleted || outcome == undo.OutcomeRestored) {
		return "would be " + outcome
	}
	return outcome
}

func (a *App) printFinding(f undo.Finding, dryRun bool) {
	outcome := wouldBe(f.Outcome, dryRun)
	text := fmt.Sprintf("%s: %s %s", outcome, f.Operation, f.ID)
	if f.Write > 0 {
		text = fmt.Sprintf("%s: write %d, %s %s", outcome, f.Write, f.Operation, f.ID)
	}
	if f.Name != "" {
		text += fmt.Sprintf(" %q", human.Shorten(f.Name, 100))
	}
	if f.Reason != "" {
		text = strings.TrimSpace(text) + ": " + f.Reason
	}
	fmt.Fprintln(a.Stdout, human.Line(strings.TrimSpace(text)))
}

// connectionOf returns the platform named by a run's command; none when the history lacks it.
func (a *App) connectionOf(ctx context.Context, id string, elsewhere Archive) runtime.Connection {
	if elsewhere.Has(id) {
		folder, flags, err := elsewhere.Command(ctx, id)
		if err != nil {
			return runtime.Connection{} // the ledger cannot be read either
		}
		return a.connectionIn(folder, flags)
	}
	store, err := a.History()
	if err != nil {
		return runtime.Connection{}
	}
	run, _, err := store.Find(id)
	if err != nil || run == nil {
		return runtime.Connection{}
	}
	words, err := cron.Split(run.Command)
	if err != nil || len(words) < 2 || !slices.Contains(words, "run") {
		return runtime.Connection{}
	}
	given, _, err := a.runFlags(words[1:])
	if err != nil {
		return runtime.Connection{}
	}
	return a.connectionIn(run.Folder, given)
}

// connectionIn returns the platform named by flags of transect run, relative to a folder.
func (a *App) connectionIn(folder string, flags []string) runtime.Connection {
	p := *a.Process
	p.Dir = folder
	job, _, err := a.parseRun(&p, append(slices.Clone(flags), "-"))
	if err != nil {
		return runtime.Connection{}
	}
	for _, path := range []*string{&job.Connection.LocalDir, &job.Connection.Config, &job.Connection.PasswordFile,
		&job.Connection.ClientSecretFile,
		&job.Connection.AccessTokenFile, &job.Connection.CACert} {
		*path = p.Path(*path)
	}
	return job.Connection
}
