package ingest

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/fault"
	"transect/client/internal/reconcile"
	"transect/client/verdict"
)

// Runs on two machines cannot lock each other out. Each searches for datasets with the same keys
// after creating its own, and again at the end, unless it is alone in its target. All make the same
// decision which one survives (see reconcile). Except for orphans a run deletes only its own
// datasets; the rest of the survivor's work it leaves to the run that created it, or does itself
// when that run makes no progress.

const (
	lookupSize = 200 // datasets looked up by one request
	// lookupsInFlight is how many such requests run concurrently.
	lookupsInFlight = 4
	otherTimeout    = 20 * time.Second
	otherPoll       = 500 * time.Millisecond
)

// alone reports whether the target was empty when this run listed it, and now holds only what this
// run created, so that nothing needs a lookup by key. While creations are in flight the totals
// differ; then, or if thorough is set, it searches for datasets of other runs.
func (r *run) alone(ctx context.Context, thorough bool) (bool, error) {
	if r.index.count > 0 || r.accompanied.Load() {
		return false, nil
	}
	created := r.created.Load()
	all, err := r.firstMatch(ctx, nil)
	complete := all.Total == created
	if err != nil || complete && !thorough {
		return complete, err
	}
	others, err := r.firstMatch(ctx, client.Filter{"properties." + PropertyName + ".run": map[string]any{"$ne": r.id}})
	if err != nil {
		return false, err
	}
	if len(others.Results) > 0 {
		r.accompanied.Store(true)
	}
	return len(others.Results) == 0 && (complete || !thorough), nil
}

// firstMatch returns the first dataset of the target that a filter selects, and their number.
func (r *run) firstMatch(ctx context.Context, which client.Filter) (client.Page[client.Dataset], error) {
	limit, filter := 1, r.options.Target.filter()
	maps.Copy(filter, which)
	return r.client.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{Filter: filter, Limit: &limit,
		Fields: client.Object{"include": []any{"name"}}}})
}

// lookup returns the datasets with the keys of items, by key, in order of their IDs; others
// excludes the items' own datasets.
func (r *run) lookup(ctx context.Context, items []*item, others bool) (map[string][]reconcile.Dataset, error) {
	var names, keys, own []any
	for _, it := range items {
		names, keys, own = append(names, it.title), append(keys, it.key), append(own, it.dataset)
	}
	in := func(list []any) map[string]any { return map[string]any{"$in": list} }
	// The names narrow the search in any database.
	filter := client.Filter{"name": in(names), "properties." + PropertyName + ".key": in(keys)}
	if others {
		filter["_id"] = map[string]any{"$nin": own}
	}
	found := map[string][]reconcile.Dataset{}
	err := search(ctx, r.client, filter, func(d client.Dataset) {
		if r.options.Target.contains(d) {
			record := recordOf(d)
			found[record.Key] = append(found[record.Key], record)
		}
	}, targetFields...)
	return found, err
}

// datasetsByID reads datasets by ID. Deleted ones are missing from the result.
func datasetsByID(ctx context.Context, c *client.Client, ids []string) (map[string]client.Dataset, error) {
	found := make(map[string]client.Dataset, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	err := search(ctx, c, client.Filter{"_id": map[string]any{"$in": list}}, func(d client.Dataset) { found[d.ID] = d })
	return found, err
}

// resolveDuplicates deletes new datasets that another run has created as well, and returns the
// items this run must upload.
func (r *run) resolveDuplicates(ctx context.Context, items []*item) ([]*item, error) {
	if len(items) == 0 {
		return items, nil
	}
	if alone, err := r.alone(ctx, false); alone || err != nil {
		return items, err
	}
	found, err := r.lookup(ctx, items, true)
	if err != nil {
		return nil, err
	}
	var own, skipped []*item
	var discard []string
	for _, it := range items {
		decision := reconcile.Decide(reconcile.State{File: it.createdFile(), Datasets: found[it.key]})
		if decision.Action == reconcile.Upload {
			own = append(own, it)
			continue
		}
		it.release()
		discard = append(discard, it.dataset)
		it.dataset, it.created = decision.Dataset, false
		if decision.Action == reconcile.Skip {
			skipped = append(skipped, it)
			continue
		}
		r.mu.Lock()
		r.waiting = append(r.waiting, it)
		r.mu.Unlock()
	}
	if err := r.delete(ctx, discard); err != nil {
		return nil, err
	}
	for _, it := range skipped {
		if err := r.skip(it, verdict.AlreadyThere, it.dataset, reconcile.OtherRun); err != nil {
			return nil, err
		}
	}
	return own, nil
}

// delete deletes datasets, ignoring those already deleted.
func (r *run) delete(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	r.options.Logger.Info("deleting duplicate datasets", "datasets", len(ids))
	_, err := r.client.Datasets.Delete(ctx, client.DatasetList{Dataset: client.IDs(ids)})
	if fault.Status(err) != http.StatusNotFound {
		return err
	}
	if len(ids) > 1 {
		for _, id := range ids {
			if err := r.delete(ctx, []string{id}); err != nil {
				return err
			}
		}
	}
	return nil
}

// waitForOthers waits for files claimed by another run. When that run makes no progress, because it
// was stopped or its datasets were deleted, this run uploads them.
func (r *run) waitForOthers(ctx context.Context) error {
	waiting := r.waiting
	progress := time.Now()
	if len(waiting) > 0 {
		r.options.Logger.Info("another run is sending files: waiting for it", "files", len(waiting))
	}
	for len(waiting) > 0 {
		var left []*item
		looked := time.Now()
		for batch := range slices.Chunk(waiting, lookupSize) {
			found, err := r.lookup(ctx, batch, false)
			if err != nil {
				return err
			}
			for _, it := range batch {
				survivor, _ := reconcile.Survivor(found[it.key])
				if it.dataset = survivor.ID; survivor.ID == "" || !survivor.Complete() {
					left = append(left, it)
				} else if err := r.skip(it, verdict.AlreadyThere, it.dataset, reconcile.OtherRun); err != nil {
					return err
				}
			}
		}
		if len(left) < len(waiting) {
			progress = time.Now()
		}
		waiting = left
		if time.Since(progress) > otherTimeout {
			break
		}
		if len(waiting) > 0 {
			if err := r.pause(ctx, max(otherPoll, 4*time.Since(looked))); err != nil {
				return err
			}
		}
	}
	// From the end, because a slow run that is still alive works at the beginning.
	slices.Reverse(waiting)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.options.Workers)
	for _, it := range waiting {
		if it.dataset != "" {
			it.resumed = true
		} else if created, err := r.createDatasets(ctx, []*item{it}); err != nil || len(created) == 0 {
			if err != nil {
				group.Go(func() error { return err })
				break
			}
			continue
		}
		group.Go(func() error { return r.upload(ctx, it) })
	}
	return group.Wait()
}

// foreign reports whether a run began on another machine, i.e. has no record on this one. Runs of
// this machine into one target wait for each other.
func (r *run) foreign(id string) bool {
	if r.options.StateDir == "" || !filepath.IsLocal(id) {
		return false
	}
	_, err := os.Stat(filepath.Join(r.options.StateDir, logFolder, id+logEnding))
	return errors.Is(err, fs.ErrNotExist)
}

// uploadedElsewhere reports whether another run has uploaded an item whose dataset is gone (deleted
// as a duplicate) or busy. Otherwise it returns err.
func (r *run) uploadedElsewhere(ctx context.Context, it *item, err error) (bool, error) {
	switch fault.Status(err) {
	case http.StatusNotFound, http.StatusConflict, http.StatusBadRequest:
	default:
		return false, err
	}
	found, failed := r.lookup(ctx, []*item{it}, false)
	survivor, ok := reconcile.Survivor(found[it.key])
	if failed != nil || !ok || !survivor.Complete() {
		return false, err
	}
	it.dataset = survivor.ID
	return true, nil
}

// deleteDuplicates searches again for datasets that another run created meanwhile, and deletes this
// run's ones that do not survive.
func (r *run) deleteDuplicates(ctx context.Context) error {
	if alone, err := r.alone(ctx, true); alone || err != nil {
		return err
	}
	created := func(o Outcome) bool { return o.Sent && !o.Resumed }
	items := func(list []Outcome) []*item {
		items := make([]*item, len(list))
		for i, o := range list {
			items[i] = o.item()
		}
		return items
	}
	return inBatches(r.outcomes.All, created, func(list []Outcome) (map[string][]reconcile.Dataset, error) {
		return r.lookup(ctx, items(list), true)
	}, func(list []Outcome, found map[string][]reconcile.Dataset) error {
		for _, it := range items(list) {
			if err := r.deleteDuplicate(ctx, it, found[it.key]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *run) deleteDuplicate(ctx context.Context, it *item, others []reconcile.Dataset) error {
	state := reconcile.State{File: it.createdFile(), Datasets: others}
	state.Uploaded = true
	decision := reconcile.Decide(state)
	r.addOrphans(decision.Orphans)
	if decision.Action == reconcile.CompleteOther {
		other := *it
		other.dataset = decision.Dataset
		err := r.uploadItem(ctx, &other)
		if fault.Status(err) == http.StatusNotFound {
			return nil // its run has yielded
		}
		if err != nil {
			return err
		}
	}
	if !decision.Discard {
		return nil
	}
	r.discarded[it.dataset] = decision.Dataset
	return r.delete(ctx, []string{it.dataset})
}

// createdFile returns the item with its dataset created.
func (it *item) createdFile() reconcile.File {
	return reconcile.File{Kind: it.Kind, Name: it.Name, Key: it.key, Created: it.dataset}
}

func (r *run) addOrphans(orphans []reconcile.Orphan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orphans = append(r.orphans, orphans...)
}

// deleteOrphans deletes the found orphans, if they still are orphans.
//
// This is safe with runs on other machines: a run still uploading to a deleted orphan gets 404 and
// then finds the survivor complete. Only when three runs meet within one request can the survivor
// be deleted, too; so it is looked up afterwards, and the orphan restored if it is gone.
func (r *run) deleteOrphans(ctx context.Context) error {
	for batch := range slices.Chunk(r.orphans, lookupSize/2) {
		found, err := r.describeOrphans(ctx, batch)
		if err != nil {
			return err
		}
		batch = slices.DeleteFunc(slices.Clone(batch), func(o reconcile.Orphan) bool {
			return !o.Confirmed(recordOf(found[o.ID]), recordOf(found[o.Survivor]))
		})
		if len(batch) == 0 {
			continue
		}
		var ids []string
		for _, o := range batch {
			ids = append(ids, o.ID)
		}
		slices.Sort(ids)
		err = r.delete(ctx, slices.Compact(ids))
		if fault.Status(err) == http.StatusForbidden {
			r.options.Logger.Warn("empty duplicate datasets cannot be deleted", "datasets", len(ids), "reason", err)
			continue
		}
		if err == nil {
			found, err = r.describeOrphans(ctx, batch)
		}
		for _, o := range batch {
			if _, ok := found[o.Survivor]; err == nil && !ok {
				_, err = r.client.Datasets.Restore(ctx, client.DatasetList{Dataset: client.IDs{o.ID}})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) describeOrphans(ctx context.Context, orphans []reconcile.Orphan) (map[string]client.Dataset, error) {
	var ids []string
	for _, o := range orphans {
		ids = append(ids, o.ID, o.Survivor)
	}
	slices.Sort(ids)
	return datasetsByID(ctx, r.client, slices.Compact(ids))
}
