package ingest

import (
	"context"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"transect/client"
)

// A request whose answer was lost may reach the platform late: after the run
// has looked for its datasets, made others, even ended. What it makes then is a
// stray: an empty dataset with the key of one that has the file. Runs delete
// strays at their end: those they come upon among the datasets of their files.
//
// That is safe with runs on other machines: a dataset that is sent to loses no
// more than an empty place, and its run finds that the file is there. Only when
// three runs meet within one request can the kept one go as well; so that is
// looked at afterwards, and the other restored.

// stray is an empty dataset, and the one that is kept: with the same key, or
// with the state of the file that took its place.
type stray struct {
	id, kept string
	outdated bool
}

// strays notes which of the datasets of one identity seem to be strays.
func (r *run) strays(candidates []held) {
	for i := range candidates {
		h := &candidates[i]
		if h.key == 0 || h.state&empty == 0 {
			continue
		}
		if k := keeper(candidates, h.key); k != h {
			r.stray(r.index.dataset(h), r.index.dataset(k), false)
		}
	}
}

func (r *run) stray(id, kept string, outdated bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = append(r.found, stray{id, kept, outdated})
}

// outdated gives, for a run that replaces, the empty datasets of earlier states
// of a file: runs made them before the one that made its present dataset.
func (r *run) outdated(w *work, run string, key uint64, taken int64, candidates []held) (ids []string) {
	for i := range candidates {
		h := &candidates[i]
		if r.o.Replace && h.key != 0 && h.key != key && h.state&empty != 0 && r.index.runs.text(h.run) < run &&
			(w.item.Kind != "image" || taken != 0 && h.taken == taken) {
			ids = append(ids, r.index.dataset(h))
		}
	}
	return ids
}

// keeper is which of the datasets with a key stays: the first that is complete,
// else the first.
func keeper(candidates []held, key uint64) (first *held) {
	for i := range candidates {
		switch h := &candidates[i]; {
		case h.key != key:
		case h.state&complete != 0:
			return h
		case first == nil:
			first = h
		}
	}
	return first
}

// sweep deletes the strays that were found, after another look at them.
func (r *run) sweep(ctx context.Context) error {
	for part := range slices.Chunk(r.found, lookupSize/2) {
		var ids []string
		for _, s := range part {
			ids = append(ids, s.id, s.kept)
		}
		there, err := described(ctx, r.c, distinct(ids))
		if err != nil {
			return err
		}
		part = slices.DeleteFunc(part, func(s stray) bool { return !s.still(there[s.id], there[s.kept]) })
		if err := r.drop(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// still tells whether a dataset is empty, and the kept one has the file.
func (s stray) still(d, kept client.Dataset) bool {
	key, other := keyOf(d), keyOf(kept)
	return key != "" && other != "" && (key == other || s.outdated) && d.ID != kept.ID && bare(d) && whole(kept)
}

func keyOf(d client.Dataset) string {
	return gjson.GetBytes(d.JSON(), "properties."+noteName+".key").String()
}

// bare tells whether a dataset has no file at all.
func bare(d client.Dataset) bool {
	none := true
	gjson.GetBytes(d.JSON(), "components").ForEach(func(_, c gjson.Result) bool {
		none = c.Get("status").String() != "completed"
		return none
	})
	return none
}

// drop deletes strays. Where that is not allowed they stay: nothing is lost.
func (r *run) drop(ctx context.Context, list []stray) error {
	if len(list) == 0 {
		return nil
	}
	var ids, kept []string
	for _, s := range list {
		ids, kept = append(ids, s.id), append(kept, s.kept)
	}
	ids, kept = distinct(ids), distinct(kept)
	err := r.remove(ctx, ids)
	if status(err) == http.StatusForbidden {
		r.o.Logger.Warn("empty doubles of datasets cannot be deleted", "datasets", len(ids), "reason", err)
		return nil
	}
	if err != nil {
		return err
	}
	there, err := described(ctx, r.c, kept)
	if err != nil {
		return err
	}
	for _, s := range list {
		if _, ok := there[s.kept]; ok {
			continue
		}
		if _, err := r.c.Datasets.Restore(ctx, client.DatasetList{Dataset: client.IDs{s.id}}); err != nil {
			return err
		}
	}
	return nil
}

// brought looks whether another run has brought the file of a work whose
// dataset is gone, as that run deletes the doubles of its own. Then err is nil.
func (r *run) brought(ctx context.Context, w *work, err error) (bool, error) {
	if status(err) != http.StatusNotFound {
		return false, err
	}
	found, failed := r.lookup(ctx, []*work{w})
	if failed != nil {
		return false, err
	}
	list := found[w.key]
	if len(list) == 0 || !kept(list).complete {
		return false, err
	}
	w.dataset = kept(list).id
	return true, nil
}
