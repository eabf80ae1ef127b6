// Package undo deletes what a run created and restores what it deleted, and verifies what remains.
package undo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/ledger"
	"transect/client/recovery"
	"transect/runtime"
	"transect/runtime/runledger"
)

// Finding is the outcome for one record that a run wrote, when the run is undone or verified.
type Finding struct {
	Write     uint32 `json:"write,omitempty"` // number in the run; 0 for datasets of an ingest
	Operation string `json:"operation"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason,omitempty"`
}

// The outcomes of findings.
const (
	OutcomeDeleted  = "deleted"
	OutcomeRestored = "restored"
	OutcomeGone     = "gone" // it was so already
	OutcomeKept     = "cannot be undone"
	OutcomeFailed   = "failed"
	OutcomeThere    = "there"
	OutcomeMissing  = "missing"
)

// written is a write of a run with its operation.
type written struct {
	ledger.Intent
	ids  []string
	spec *declare.Spec
}

// Undo deletes what a run created, newest first, and restores what it deleted.
func Undo(ctx context.Context, p *runtime.Process, job runtime.Job, a runledger.Archive, run string,
	report func(Finding)) error {
	dry := job.DryRun
	job.DryRun, job.Parts = false, nil // it sends nothing
	return overWrites(ctx, p, job, a, run, func(ctx context.Context, c *client.Client, rows []written,
		ingests []string) error {
		me, err := c.Users.Describe(ctx, client.UserRef{})
		if err != nil {
			return err
		}
		u := &undo{c: c, dry: dry, me: me.ID, created: createdBy(rows), seen: map[string]bool{},
			names: map[string]string{}, report: report}
		if u.outputs, err = outputsOf(ctx, c, rows); err != nil {
			return err
		}
		sent, err := ingested(ctx, c, run, ingests)
		if err != nil {
			return err
		}
		for _, id := range sent {
			w := written{spec: c.Manager("datasets").Walk(), Intent: ledger.Intent{Op: "ingest.run"}}
			if err := u.remove(ctx, w, id); err != nil {
				return err
			}
		}
		for _, w := range slices.Backward(rows) {
			if err := u.write(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
}

// Verify compares what a run created and deleted with the platform.
func Verify(ctx context.Context, p *runtime.Process, job runtime.Job, a runledger.Archive, run string,
	report func(Finding)) error {
	return overWrites(ctx, p, job, a, run, func(ctx context.Context, c *client.Client, rows []written,
		_ []string) error {
		deleted := map[string]bool{}
		for _, w := range rows {
			if w.spec.Effect == declare.Delete {
				for _, id := range w.ids {
					deleted[id] = true
				}
			}
			if w.spec == w.spec.Siblings().Restore() {
				for _, id := range w.ids {
					delete(deleted, id)
				}
			}
		}
		u := &undo{c: c, names: map[string]string{}}
		seen := map[string]bool{}
		for _, w := range rows {
			if w.spec.Effect != declare.Create {
				continue
			}
			for _, id := range w.ids {
				if seen[id] {
					continue
				}
				seen[id] = true
				there, ok, err := u.there(ctx, w.spec, id)
				f := Finding{Write: w.Seq, Operation: w.spec.FullName(), ID: id, Name: u.names[id], Outcome: OutcomeThere}
				switch {
				case err != nil:
					return err
				case !ok:
					continue
				case !there && deleted[id]:
					f.Outcome, f.Reason = OutcomeGone, "the run deleted it itself"
				case !there:
					f.Outcome = OutcomeMissing
				case deleted[id]:
					f.Outcome, f.Reason = OutcomeFailed, "the run deleted it, but it is there"
				}
				report(f)
			}
		}
		return nil
	})
}

// overWrites connects, and calls f with the writes of a run that were done.
func overWrites(ctx context.Context, p *runtime.Process, job runtime.Job, a runledger.Archive, run string,
	f func(ctx context.Context, c *client.Client, rows []written, ingests []string) error) error {
	return runtime.Connected(ctx, p, job, func(ctx context.Context, c *client.Client, _ string) error {
		var rows []written
		var ingests []string
		err := runledger.Read(ctx, p, a, run, func(l *ledger.Ledger) error {
			ingests = runledger.Ingests(l)
			return l.All(func(i ledger.Intent, r *ledger.Result) error {
				if spec := c.Operation(i.Op); spec != nil && r != nil && r.State != ledger.Refused {
					rows = append(rows, written{Intent: i, ids: r.IDs, spec: spec})
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have ingested
			return err
		}
		return f(recovery.Outside(ctx), c, rows, ingests)
	})
}

func createdBy(rows []written) map[string]bool {
	created := map[string]bool{}
	for _, w := range rows {
		if w.spec.Effect == declare.Create {
			for _, id := range w.ids {
				created[id] = true
			}
		}
	}
	return created
}

// undo is the undoing of a run.
type undo struct {
	c       *client.Client
	dry     bool
	me      string // the current user
	created map[string]bool
	outputs map[string]bool   // of its products
	seen    map[string]bool   // what was or would be deleted
	names   map[string]string // of records that were read, by ID
	report  func(Finding)
}

// ingested lists the datasets of the run's ingests, which are not in the ledger but carry the ID of the run.
// An ID chosen by a user may also be in use on other machines and in other job databases: then the ingests
// noted in the ledger decide.
func ingested(ctx context.Context, c *client.Client, run string, ingests []string) (ids []string, err error) {
	filter := client.Filter{"properties.transect.part_of": map[string]any{"$eq": run}}
	if !runledger.MadeUp(run) {
		if len(ingests) == 0 {
			return nil, nil
		}
		filter["properties.transect.run"] = map[string]any{"$in": ingests}
	}
	for dataset, err := range c.Datasets.Search.All(ctx, client.DatasetQuery{Query: client.Query{Filter: filter}}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, dataset.ID)
	}
	return ids, nil
}

// outputsOf returns the datasets created by the products of a run.
func outputsOf(ctx context.Context, c *client.Client, rows []written) (map[string]bool, error) {
	outputs := map[string]bool{}
	for _, w := range rows {
		if w.spec.Makes != "products" {
			continue
		}
		for _, id := range w.ids {
			record, _, err := c.Manager("products").Read(ctx, id, nil)
			if err != nil {
				return nil, err
			}
			for _, output := range gjson.GetBytes(record, "outputs").Array() {
				outputs[output.Str] = true
			}
		}
	}
	return outputs, nil
}

// write undoes one write.
func (u *undo) write(ctx context.Context, w written) error {
	restore := w.spec.Siblings().Restore()
	for _, id := range w.ids {
		switch {
		case w.spec.Effect == declare.Create && u.created[id]:
			if err := u.remove(ctx, w, id); err != nil {
				return err
			}
		case u.created[id]: // deleted with its container
		case w.spec.Effect == declare.Delete && restore != nil:
			if err := u.bringBack(ctx, w, restore, id); err != nil {
				return err
			}
		case w.spec.Effect == declare.Delete:
			u.keep(w, id, "what is deleted there is gone for good")
		case w.spec == restore:
			if err := u.remove(ctx, w, id); err != nil {
				return err
			}
		default:
			u.keep(w, id, "its former state is not recorded")
		}
	}
	if len(w.ids) == 0 && w.Parent == 0 && !w.spec.Composed { // the steps of a composed one are undone
		u.keep(w, "", "what it changed is not recorded")
	}
	return nil
}

func (u *undo) keep(w written, id, reason string) {
	if id != "" && w.spec.Effect != declare.Set && u.seen[id] {
		return
	}
	u.found(w, id, OutcomeKept, reason)
}

func (u *undo) found(w written, id, outcome, reason string) {
	u.report(Finding{Write: w.Seq, Operation: w.Op, ID: id, Name: u.names[id], Outcome: outcome, Reason: reason})
}

// remove deletes a record that the run created.
func (u *undo) remove(ctx context.Context, w written, id string) error {
	if u.seen[id] { // as a step of another write
		return nil
	}
	u.seen[id] = true
	remove := u.c.Manager(w.spec.Makes).Remove()
	if remove == nil {
		u.found(w, id, OutcomeKept, w.spec.Makes+" cannot be deleted")
		return nil
	}
	if there, ok, err := u.there(ctx, w.spec, id); err != nil || ok && !there {
		if err == nil {
			u.found(w, id, OutcomeGone, "")
		}
		return err
	}
	if others, err := u.ofOthers(ctx, w, id); err != nil || others != "" {
		if err == nil {
			u.found(w, id, OutcomeKept, others+"; delete it by hand if you do not need it")
		}
		return err
	}
	return u.done(ctx, w, id, remove, OutcomeDeleted)
}

// bringBack restores a record that the run deleted.
func (u *undo) bringBack(ctx context.Context, w written, restore *declare.Spec, id string) error {
	if there, ok, err := u.there(ctx, w.spec, id); err != nil || ok && there {
		if err == nil {
			u.found(w, id, OutcomeGone, "")
		}
		return err
	}
	return u.done(ctx, w, id, restore, OutcomeRestored)
}

// done calls an operation with the ID, and reports the outcome.
func (u *undo) done(ctx context.Context, w written, id string, how *declare.Spec, outcome string) error {
	if u.dry {
		u.found(w, id, outcome, "")
		return nil
	}
	_, err := how.Invoke(ctx, declare.Args{Values: map[string]any{how.Params[0].Name: id}})
	response, refused := errors.AsType[*fault.ResponseError](err)
	switch {
	case refused && response.Status == http.StatusNotFound && outcome == OutcomeDeleted:
		outcome = OutcomeGone
	case refused && response.Status < 500 && response.Status != http.StatusUnauthorized:
		u.found(w, id, OutcomeFailed, response.Message)
		return nil
	case err != nil:
		return err
	}
	u.found(w, id, outcome, "")
	return nil
}

// there reports whether a record exists and is not deleted; ok is false when no operation can find out.
func (u *undo) there(ctx context.Context, s *declare.Spec, id string) (there, ok bool, err error) {
	record, ok, err := u.record(ctx, s, id)
	return record != nil, ok, err
}

// record reads a record that is not deleted; ok is false when no operation reads it.
func (u *undo) record(ctx context.Context, s *declare.Spec, id string) (record []byte, ok bool, err error) {
	record, ok, err = u.c.Manager(s.Makes).Read(ctx, id, nil)
	u.names[id] = gjson.GetBytes(record, "name").String()
	if deleted := gjson.GetBytes(record, "deletion_date"); deleted.Exists() && deleted.Type != gjson.Null {
		record = nil
	}
	return record, ok, err
}

// ofOthers describes changes by others, users or runs, to a record that the run created, or what they put
// into it, which a deletion would remove as well; "" if none are known.
func (u *undo) ofOthers(ctx context.Context, w written, id string) (string, error) {
	record, _, err := u.record(ctx, w.spec, id)
	if err != nil || record == nil {
		return "", err
	}
	if by := gjson.GetBytes(record, "modification_user").String(); by != "" && by != u.me {
		return fmt.Sprintf("user %s has changed it since", by), nil
	}
	for _, kind := range u.c.Manager(w.spec.Makes).Holds {
		n, err := u.foreign(ctx, kind, declare.Singular(w.spec.Makes), id)
		if err != nil || n > 0 {
			return fmt.Sprintf("it holds %s that the run did not make (%d)", kind, n), err
		}
	}
	return "", nil
}

// foreign counts the records of a manager in a project or a mission that the run has not created, or that
// other users have.
func (u *undo) foreign(ctx context.Context, kind, key, id string) (n int, err error) {
	filter := map[string]any{"filter": map[string]any{key: map[string]any{"$eq": id}}}
	err = u.c.Manager(kind).Walk().Each(ctx, filter, func(record []byte) bool {
		by := cmp.Or(gjson.GetBytes(record, "creation_user").String(), gjson.GetBytes(record, "user").String())
		id := gjson.GetBytes(record, "_id").String()
		if own := u.created[id] || u.outputs[id] || u.seen[id]; !own || by != "" && by != u.me {
			n++
		}
		return true
	})
	return n, err
}
