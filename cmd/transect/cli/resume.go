package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/ledger"
	"transect/runtime"
	"transect/runtime/runledger"
	"transect/runtime/unattended"
	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
	"transect/scripts"
)

// resumption selects the run that transect run resumes.
type resumption struct {
	name  string // run id or newestRun; "" for none
	again bool   // begin a new run under a finished ID
	job   string // of cron
}

const newestRun = "last"

// begin names the run of a job. It returns another command line when the resumed run has its own.
func (a *App) begin(r resumption, job *runtime.Job, words []string) (again []string, folder string, err error) {
	switch {
	case r.again:
		return nil, "", a.setAside(job.Run.ID)
	case r.name == "":
		return nil, "", nil
	}
	exact := len(words) > 1 || r.job != ""
	run, err := a.unfinished(r, words, exact)
	switch {
	case err != nil:
		return nil, "", err
	case run == nil && len(words) == 0:
		return nil, "", fault.Hinted(fault.Of(&fault.UsageError{}, "there is no unfinished run to resume"),
			"transect runs lists the runs; everyday commands resume when repeated, plans with transect apply")
	case run == nil: // as a job of cron does each day
		return nil, "", nil
	case exact:
		job.Run = runtime.RunID{ID: run.RunID(), Known: true}
		return nil, "", nil
	}
	again, err = a.commandOf(run)
	return again, run.Folder, err
}

// offer looks for the run that the command of a job began and did not finish. At a terminal it asks whether to go on
// with it, otherwise the new run names it.
func (a *App) offer(ctx context.Context, job *runtime.Job, options *unattended.Options) error {
	planning := options.Planning.Ask || options.Planning.Only || options.Planning.Apply.File != "" ||
		options.Planning.Renew.File != ""
	if job.Run.ID != "" || job.DryRun || planning || job.Script == "-" {
		return nil
	}
	script := job.Script
	if !scripts.IsRef(script) {
		var err error
		if script, err = filepath.Abs(a.Process.Path(script)); err != nil {
			return nil
		}
	}
	folder, _ := filepath.Abs(a.Process.Path(".")) // "" where it was removed, as in the history
	args := unattended.Arguments(a.Process, job, *options)
	platform := unattended.PlatformName(a.Process, job.Connection)
	run, err := unattended.History(a.Process).Unfinished(script, func(run *history.Summary) bool {
		return isRun(run) && !ofPlan(run) && wasRun(run) && slices.Equal(run.Arguments, args) && run.Platform == platform &&
			(len(args) == 0 || run.Folder == folder) && run.Job == options.Job
	})
	if err != nil || run == nil {
		return nil // a history that cannot be read is reported by the run
	}
	if !a.Process.IsTerminal(a.Process.Stdin) || !a.Process.IsTerminal(a.Process.Stderr) {
		options.Unfinished = run.RunID()
		return nil
	}
	ctx, release := a.Process.CancelOnSignal(ctx)
	defer release()
	fmt.Fprintf(a.Process.Stderr, "transect: the run %s of this command, started %s, has not finished.\n", run.RunID(),
		LocalTime(run.Started, a.Process.Now()))
	resume, err := a.prefers(ctx, "Go on with it (yes), or start anew (no)?")
	if resume {
		job.Run = runtime.RunID{ID: run.RunID(), Known: true}
	}
	return err
}

// prefers asks a yes/no question until it is answered; the default is yes.
func (a *App) prefers(ctx context.Context, text string) (bool, error) {
	for {
		answer, err := a.Process.Ask(ctx, a.Process.Stderr, text+" (yes/no)", "yes", false)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

// wasRun reports whether the start of a run got as far as its script.
func wasRun(run *history.Summary) bool {
	return !run.DryRun && (run.End == nil ||
		run.End.ExitCode != runtime.ExitUsage && run.End.ExitCode != runtime.ExitLocked)
}

// unfinished finds the run to resume: the named one, or the last one of the script if it did not succeed; nil
// for none.
func (a *App) unfinished(r resumption, words []string, exact bool) (*history.Summary, error) {
	store, err := a.History()
	if err != nil {
		return nil, err
	}
	named := ""
	if r.name != newestRun {
		run, err := a.findRun(store, r.name)
		switch {
		case err != nil:
			return nil, err
		case !isRun(run):
			return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "the run %s was not started by transect run",
				run.RunID()),
				"repeat its command, which resumes by itself: %s", run.Command)
		}
		named = run.RunID()
	}
	script := ""
	if len(words) > 0 {
		if script = words[0]; !scripts.IsRef(script) {
			if script, err = filepath.Abs(a.Process.Path(script)); err != nil {
				return nil, err
			}
		}
	}
	seen := map[string]bool{}
	list, err := store.List(0, func(run *history.Summary) bool {
		switch {
		case !wasRun(run), run.Script == "-", !isRun(run), named == "" && ofPlan(run):
			return false
		case named != "":
			return run.RunID() == named
		case script != "" && run.Script != script, r.job != "" && !run.OfJob(r.job),
			exact && !slices.Equal(run.Arguments, words[1:]):
			return false
		}
		key := run.Script + "\n" + strings.Join(run.Arguments, "\n")
		first := !seen[key]
		seen[key] = true
		return first
	})
	if err != nil {
		return nil, unreadable(err)
	}
	if named != "" {
		list = list[:min(1, len(list))] // its last start
	}
	for _, run := range list {
		switch ended := run.End != nil && run.End.ExitCode == runtime.ExitOK; {
		case run.State == history.Running:
			return nil, fault.Hinted(fault.Of(&fault.LockedError{},
				"the run %s is in progress: process %d, since %s", run.RunID(), run.PID,
				run.Started.Local().Format(time.DateTime)),
				"wait for its end")
		case !ended:
			return run, nil
		case named != "":
			return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "the run %s has succeeded: there is nothing to resume",
				named),
				"transect run --run %s --again SCRIPT starts a new one", named)
		}
	}
	if named != "" {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "the run %s cannot be started again from the history", named),
			"name its script and arguments: transect run --run %s SCRIPT ARGS", named)
	}
	return nil, nil
}

// isRun reports whether a run was started by transect run.
func isRun(run *history.Summary) bool {
	words, err := cron.Split(run.Command)
	return err == nil && slices.Contains(words, "run")
}

// ofPlan reports whether a run applies a plan: transect apply resumes it.
func ofPlan(run *history.Summary) bool { return strings.HasPrefix(run.RunID(), "plan-") }

// commandOf returns the command line that starts a run again, with the flags given now after the recorded
// ones.
func (a *App) commandOf(run *history.Summary) ([]string, error) {
	words, err := cron.Split(run.Command)
	if err != nil || len(words) == 0 {
		return nil, fault.Of(&fault.FileError{}, "the command of the run %s cannot be read in the history: %s", run.ID,
			run.Command)
	}
	hidden := func(word string) bool {
		return word == "..." || strings.HasSuffix(word, "=...") || strings.Contains(word, "[redacted]")
	}
	if slices.ContainsFunc(words, hidden) || slices.ContainsFunc(run.Arguments, hidden) {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{},
			"the arguments of the run %s held secrets, which the history does not keep", run.RunID()),
			"give them again: transect run --run %s %s ARGS", run.RunID(), run.Script)
	}
	if _, err := os.Stat(cmp.Or(run.Folder, ".")); err != nil {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "the folder %s of the run %s no longer exists",
			run.Folder, run.RunID()),
			"name script and arguments: transect run --run %s SCRIPT ARGS", run.RunID())
	}
	then, positional, err := a.runFlags(words[1:])
	if err != nil {
		return nil, err
	}
	now, _, err := a.runFlags(a.Process.Args)
	if err != nil {
		return nil, err
	}
	again := append([]string{"run"}, then...)
	again = append(again, now...)
	return append(append(again, "--run="+run.RunID()), positional...), nil
}

// runFlags splits a command line of transect run into its flags, without those
// that name the run, and the script with its arguments.
func (a *App) runFlags(words []string) (given, positional []string, err error) {
	other := a.On(a.Process)
	cmd, rest, err := other.Root(words).Find(words)
	if err != nil || cmd.Name() != "run" {
		return nil, nil, fault.Of(&fault.UsageError{}, "this is not a transect run command: %s", strings.Join(words, " "))
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return nil, nil, cmd.FlagErrorFunc()(cmd, err)
	}
	positional = cmd.Flags().Args()
	rest = rest[:len(rest)-len(positional)]
	for i := 0; i < len(rest); i++ {
		word := rest[i]
		switch name, _, joined := strings.Cut(word, "="); {
		case name == "--run":
			if !joined {
				i++
			}
		case name == "--resume", name == "--again", word == "--":
		default:
			given = append(given, word)
		}
	}
	return given, positional, nil
}

// setAside makes room for a new run under the ID of one that succeeded.
func (a *App) setAside(id string) error {
	if id == "" {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "--again needs the ID of a run"), "add --run ID")
	}
	dir := runledger.Folder(a.Process)
	l, err := ledger.OpenToRead(dir, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	at, ended := l.Ended()
	_ = l.Close()
	if !ended {
		return fault.Hinted(fault.Of(&fault.UsageError{},
			"the run %s has not succeeded: a new one would repeat its writes", id),
			"resume it: transect run --resume=%s; or forget it: transect runs forget %s", id, id)
	}
	return ledger.SetAside(dir, id, id+"."+at.UTC().Format("20060102-150405"))
}

// StartAgain runs another command line, in the folder of the run.
func (a *App) StartAgain(words []string, folder string) error {
	p := *a.Process
	p.Args, p.Dir = words, folder
	other := a.On(&p)
	other.debugger = a.debugger
	err := other.command()
	a.Output = other.Output
	return err
}
