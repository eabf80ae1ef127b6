package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/client/human/tabular"
	"transect/client/ledger"
	"transect/runtime/runledger"
	"transect/runtime/unattended/history"
)

// writes are the writes of a run, as they are shown.
type writes struct {
	Starts []ledger.Start `json:"starts"`
	Writes []noted        `json:"writes"`
}

// noted is one write of a run.
type noted struct {
	Number    uint32    `json:"number"`
	Step      uint32    `json:"step_of,omitempty"`
	Operation string    `json:"operation"`
	State     string    `json:"state"`
	Sent      time.Time `json:"sent"`
	Start     uint32    `json:"start"`
	IDs       []string  `json:"ids,omitempty"`
	Doubles   []string  `json:"doubles,omitempty"` // of the same write, which was done twice
}

// writesOf reads the ledger of a run; nil when it wrote nothing.
func (a *App) writesOf(ctx context.Context, run string, elsewhere Archive) (w *writes, err error) {
	err = runledger.Read(ctx, a.Process, elsewhere, run, func(l *ledger.Ledger) error {
		w = &writes{Starts: l.Starts()}
		return l.All(func(i ledger.Intent, r *ledger.Result) error {
			n := noted{Number: i.Seq, Step: i.Parent, Operation: i.Op, State: ledger.Open.String(), Sent: i.Since,
				Start: i.Start}
			if r != nil {
				n.State, n.IDs, n.Doubles = r.State.String(), r.IDs, l.Duplicates(i.Seq)
			}
			w.Writes = append(w.Writes, n)
			return nil
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return w, err
}

// printWrites prints a count by state and the writes.
func (a *App) printWrites(w *writes) {
	counts := map[string]int{}
	var rows []tabular.Row
	for _, n := range w.Writes {
		counts[n.State]++
		ids := strings.Join(n.IDs[:min(len(n.IDs), 3)], " ")
		if more := len(n.IDs) - 3; more > 0 {
			ids += fmt.Sprintf(" and %d more", more)
		}
		if len(n.Doubles) > 0 {
			ids += " and " + strings.Join(n.Doubles, " ")
		}
		rows = append(rows, tabular.Row{n.Number, n.Operation, n.State,
			n.Sent.In(a.Process.Now().Location()).Format(time.DateTime), n.Start, ids})
	}
	var parts []string
	for _, state := range []string{"done", "adopted", "open", "partial", "refused", "doubled"} {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
		}
	}
	fmt.Fprintf(a.Stdout, "%-11s %d\n%-11s %s\n\n", "starts", len(w.Starts), "writes", strings.Join(parts, ", "))
	a.PrintTable(tabular.Row{"write", "operation", "state", "sent", "start", "ids"}, rows)
}

// ledgerOf returns the ID of a run's ledger, given the run's ID or that of one of its starts.
func (a *App) ledgerOf(name string, elsewhere Archive) (string, error) {
	if elsewhere.Has(name) {
		return name, nil
	}
	if _, err := os.Stat(filepath.Join(runledger.Folder(a.Process), name+ledger.Suffix)); err == nil &&
		filepath.Base(name) == name {
		return name, nil
	}
	store, err := a.History()
	if err != nil {
		return "", err
	}
	run, err := a.findRun(store, name)
	if err != nil {
		return "", err
	}
	return run.RunID(), nil
}

func (a *App) runsSettle() *cobra.Command {
	var adopt string
	var archive func() (Archive, error)
	var send bool
	cmd := &cobra.Command{
		Use:   "settle RUN WRITE",
		Short: "Decide about a write whose outcome is unknown",
		Long: `Decide about a write whose outcome is unknown, so that the next start of the run
continues: --adopt ID if it was done and created ID, --send if it was not done and
is to be sent.`,
		Example: `  transect runs settle nightly-1122 37 --adopt 6b0203ac9f8e4d1c2b3a4958
  transect runs settle nightly-1122 37 --send`,
		Args: ExactArgs(2, "RUN WRITE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			elsewhere, err := archive()
			if err != nil {
				return err
			}
			if (adopt != "") == send {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "the decision about the write is missing"),
					"give --adopt ID if it was done, --send if it was not")
			}
			run, n, err := a.writeOf(cmd.Context(), args[0], args[1], elsewhere)
			if err != nil {
				return err
			}
			if n.State != ledger.Open.String() {
				return fault.Of(&fault.UsageError{}, "write %d of the run %s is %s: there is nothing to decide", n.Number, run,
					n.State)
			}
			err = runledger.Edit(cmd.Context(), a.Process, elsewhere, run, func(l *ledger.Ledger) error {
				if send {
					return l.Decide(n.Number, ledger.Refused, nil)
				}
				return l.Decide(n.Number, ledger.Adopted, []string{adopt})
			})
			if err == nil {
				fmt.Fprintln(a.Stdout, "recorded; continue with: "+a.nextStart(run, elsewhere))
			}
			return err
		},
	}
	cmd.Flags().StringVar(&adopt, "adopt", "", "it was done and made `ID`")
	cmd.Flags().BoolVar(&send, "send", false, "it was not done: send it at the next start")
	archive = a.archive(cmd)
	return cmd
}

// nextStart returns the command that resumes a run.
func (a *App) nextStart(run string, elsewhere Archive) string {
	if elsewhere.Has(run) {
		resume, _ := elsewhere.Resume(run)
		return resume
	}
	if store, err := a.History(); err == nil {
		if last, err := a.findRun(store, run); err == nil && !isRun(last) {
			return last.Command
		}
	}
	return "transect run --resume=" + run
}

func (a *App) runsForget() *cobra.Command {
	var write string
	var archive func() (Archive, error)
	cmd := &cobra.Command{
		Use:   "forget RUN",
		Short: "Forget the writes of a run, so that it starts over",
		Long: `Forget the writes of a run: its next start sends all of them. With --write only one
is forgotten, for example because its result was deleted since.`,
		Example: `  transect runs forget nightly-1122
  transect runs forget nightly-1122 --write 37`,
		Args: ExactArgs(1, "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			elsewhere, err := archive()
			if err != nil {
				return err
			}
			if write != "" {
				run, n, err := a.writeOf(cmd.Context(), args[0], write, elsewhere)
				if err != nil {
					return err
				}
				return runledger.Edit(cmd.Context(), a.Process, elsewhere, run,
					func(l *ledger.Ledger) error { return l.Decide(n.Number, ledger.Refused, nil) })
			}
			if elsewhere.Has(args[0]) {
				_, remove := elsewhere.Resume(args[0])
				return fault.Hinted(fault.Of(&fault.UsageError{}, "the writes of a job are forgotten with it"), "%s", remove)
			}
			run, err := a.ledgerOf(args[0], elsewhere)
			if err != nil {
				return err
			}
			err = ledger.Remove(runledger.Folder(a.Process), run)
			if errors.Is(err, fs.ErrNotExist) {
				return fault.Of(&fault.UsageError{}, "the run %s has recorded no writes", run)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&write, "write", "", "forget only write `N`")
	archive = a.archive(cmd)
	return cmd
}

// writeOf finds a write of a run by its number.
func (a *App) writeOf(ctx context.Context, name, number string, elsewhere Archive) (run string, n noted, err error) {
	if run, err = a.ledgerOf(name, elsewhere); err != nil {
		return "", n, err
	}
	w, err := a.writesOf(ctx, run, elsewhere)
	if err != nil {
		return "", n, err
	}
	seq, err := strconv.Atoi(number)
	if w == nil || err != nil || seq < 1 || seq > len(w.Writes) {
		return "", n, fault.Hinted(fault.Of(&fault.UsageError{}, "the run %s has no write %s", run, number),
			"transect runs show %s lists them", run)
	}
	return run, w.Writes[seq-1], nil
}

// findRun finds a run of the history.
func (a *App) findRun(store history.Store, name string) (*history.Summary, error) {
	run, matches, err := store.Find(name)
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(matches) > 1:
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s is ambiguous: it matches %d runs", name, len(matches)),
			"give more of the ID, such as %s", matches[0])
	case run == nil:
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "there is no run %s", name), "transect runs lists them")
	}
	return run, nil
}
