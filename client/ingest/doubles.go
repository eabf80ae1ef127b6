package ingest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
)

// Runs on two machines cannot lock each other out. So each looks, after it has
// created datasets and once more at its end, for others with the same keys.
// Of several datasets with one key that is kept which has its file, else the
// one with the smallest identifier; but for strays (see stray.go) a run only ever
// deletes datasets it created itself, and leaves their work to whoever made the one that is kept, or does
// it in the end when nobody does.

// sibling is a dataset at the target with a key somebody asked for.
type sibling struct {
	id, run  string
	complete bool // all its files are there
	bare     bool // none is
}

// lookup finds the datasets with the keys of works, by key, oldest first.
func (r *run) lookup(ctx context.Context, works []*work) (map[string][]sibling, error) {
	return r.search(ctx, works, client.Object{})
}

// doublesOf finds those that are not the works' own: mostly none.
func (r *run) doublesOf(ctx context.Context, works []*work) (map[string][]sibling, error) {
	own := make([]any, len(works))
	for i, w := range works {
		own[i] = w.dataset
	}
	return r.search(ctx, works, client.Object{"$nin": own})
}

// search finds the datasets with the keys of works whose identifiers are like that.
func (r *run) search(ctx context.Context, works []*work, id client.Object) (map[string][]sibling, error) {
	names, keys := make([]any, len(works)), make([]any, len(works))
	for i, w := range works {
		names[i], keys[i] = w.name, w.key
	}
	// The name alone narrows the search down in any database.
	filter := client.Filter{"name": map[string]any{"$in": names}, "properties." + noteName + ".key": map[string]any{"$in": keys}}
	found := map[string][]sibling{}
	limit := indexPage
	for {
		if len(id) > 0 {
			filter["_id"] = id
		}
		page, err := r.c.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{Filter: filter, Limit: &limit,
			Sort:   client.Sort{{Attribute: "_id", Direction: 1}},
			Fields: client.Object{"include": []any{"company", "project", "mission", "components.status", "components", "properties." + noteName}}}})
		if err != nil {
			return nil, err
		}
		for _, d := range page.Results {
			if !r.o.Target.has(d) {
				continue
			}
			noted := gjson.GetBytes(d.JSON(), "properties."+noteName)
			key := noted.Get("key").String()
			found[key] = append(found[key], sibling{id: d.ID, run: noted.Get("run").String(), complete: whole(d), bare: bare(d)})
		}
		if len(page.Results) < limit {
			return found, nil
		}
		id["$gt"] = page.Results[len(page.Results)-1].ID
	}
}

// has tells whether a dataset lies at the target.
func (t Target) has(d client.Dataset) bool {
	switch {
	case t.Mission != "":
		return d.Mission == t.Mission
	case t.Project != "":
		return d.Project == t.Project && d.Mission == ""
	}
	return d.Company == t.Company && d.Project == ""
}

// whole tells whether all files of a dataset are there.
func whole(d client.Dataset) bool {
	all := true
	gjson.GetBytes(d.JSON(), "components").ForEach(func(_, c gjson.Result) bool {
		all = c.Get("status").String() == "completed"
		return all
	})
	return all
}

// kept is which of several datasets with one key stays.
func kept(list []sibling) sibling {
	best := list[0]
	for _, s := range list[1:] {
		if s.complete != best.complete && s.complete || s.complete == best.complete && s.id < best.id {
			best = s
		}
	}
	return best
}

// settle lets go of datasets just created that another run created as well,
// and returns the works that are ours to send.
func (r *run) settle(ctx context.Context, works []*work) ([]*work, error) {
	if len(works) == 0 {
		return works, nil
	}
	found, err := r.doublesOf(ctx, works)
	if err != nil {
		return nil, err
	}
	var ours []*work
	var drop []string
	var skipped []*work
	for _, w := range works {
		best := kept(append(found[w.key], sibling{id: w.dataset}))
		if best.id == w.dataset {
			ours = append(ours, w)
			continue
		}
		drop = append(drop, w.dataset)
		w.dataset, w.created = best.id, false
		if best.complete {
			skipped = append(skipped, w)
			continue
		}
		r.mu.Lock()
		r.late = append(r.late, w)
		r.mu.Unlock()
	}
	if err := r.remove(ctx, drop); err != nil {
		return nil, err
	}
	for _, w := range skipped {
		if err := r.skip(w, w.dataset, "another run brought it"); err != nil {
			return nil, err
		}
	}
	return ours, nil
}

// remove deletes datasets of this run. One that is gone already is no error.
func (r *run) remove(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	r.o.Logger.Info("deleting doubles of datasets", "datasets", len(ids))
	_, err := r.c.Datasets.Delete(ctx, client.DatasetList{Dataset: client.IDs(ids)})
	if status(err) == http.StatusNotFound && len(ids) > 1 {
		for _, id := range ids {
			if err := r.remove(ctx, []string{id}); err != nil {
				return err
			}
		}
		return nil
	}
	if status(err) == http.StatusNotFound {
		return nil
	}
	return err
}

const (
	patience   = 20 * time.Second // with another run that gets nowhere
	lookAgain  = 500 * time.Millisecond
	lookupSize = 200
)

// lateOnes waits for what another run has taken on, and does what it leaves.
func (r *run) lateOnes(ctx context.Context) error {
	waiting := r.late
	moved := time.Now()
	for len(waiting) > 0 {
		var rest []*work
		for part := range slices.Chunk(waiting, lookupSize) {
			found, err := r.lookup(ctx, part)
			if err != nil {
				return err
			}
			for _, w := range part {
				list := found[w.key]
				if len(list) > 0 && kept(list).complete {
					if err := r.skip(w, kept(list).id, "another run brought it"); err != nil {
						return err
					}
					continue
				}
				if w.dataset = ""; len(list) > 0 {
					w.dataset = kept(list).id
				}
				rest = append(rest, w)
			}
		}
		if len(rest) < len(waiting) {
			moved = time.Now()
		}
		waiting = rest
		if time.Since(moved) > patience {
			return r.takeOver(ctx, waiting)
		}
		if len(waiting) > 0 {
			if err := r.pause(ctx, lookAgain); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeOver does what another run did not: it was stopped, or its datasets are
// gone.
func (r *run) takeOver(ctx context.Context, works []*work) error {
	for _, w := range works {
		if w.dataset == "" {
			if _, err := r.made(ctx, []*work{w}); err != nil || w.dataset == "" {
				if err != nil {
					return err
				}
				continue
			}
		} else {
			w.outcome = Resumed
		}
		if err := r.send(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// doubles looks once more for datasets that another run made meanwhile, and
// deletes those of this run that are not the ones to keep.
func (r *run) doubles(ctx context.Context) error {
	return r.each(func(o Outcome) bool { return o.Outcome == Created }, lookupSize, func(list []Outcome) error {
		works := make([]*work, len(list))
		for i, o := range list {
			works[i] = &work{item: o.item(), key: o.Key, name: o.Title, dataset: o.Dataset}
		}
		found, err := r.doublesOf(ctx, works)
		if err != nil {
			return err
		}
		for _, w := range works {
			if err := r.converge(ctx, w, found[w.key]); err != nil {
				return err
			}
		}
		return nil
	})
}

// converge makes sure that of the datasets of one key, that of a work and others,
// the one with the smallest identifier has the file, and takes that of this run
// away when it is another.
func (r *run) converge(ctx context.Context, w *work, others []sibling) error {
	if len(others) == 0 {
		return nil
	}
	for _, s := range others {
		if s.bare {
			r.stray(s.id, w.dataset, false)
		}
	}
	first := slices.MinFunc(others, func(a, b sibling) int { return strings.Compare(a.id, b.id) })
	if w.dataset < first.id || first.bare {
		return nil
	}
	if !first.complete {
		own := w.dataset
		w.dataset = first.id
		err := r.upload(ctx, w)
		w.dataset = own
		var answer *fault.ResponseError
		if errors.As(err, &answer) && answer.Status == http.StatusNotFound {
			return nil // its owner let go of it
		}
		if err != nil {
			return err
		}
	}
	if r.given == nil {
		r.given = map[string]string{}
	}
	r.given[w.dataset] = first.id
	return r.remove(ctx, []string{w.dataset})
}
