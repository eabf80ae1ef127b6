package ingest

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/fault"
)

const (
	batchesInFlight = 4
	batchDelay      = 15 * time.Millisecond // time to fill a batch
	createAttempts  = 4                     // when responses are lost
)

// create creates the missing datasets in batches and passes all items on. The first batch is sent
// early, so that uploads can begin; the next ones fill up while batches are in flight.
func (r *run) create(ctx context.Context, from <-chan sequencedItem, to chan<- *item) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(batchesInFlight)
	err := r.fillBatches(ctx, from, to, func(batch []*item) {
		group.Go(func() error { return r.createBatch(ctx, batch, to) })
	})
	return cmp.Or(group.Wait(), err) // err may be a consequence of the group's
}

// fillBatches calls send with batches of items that need a dataset, in the order of the scan: the
// first of equal files is the original.
func (r *run) fillBatches(ctx context.Context, from <-chan sequencedItem, to chan<- *item, send func([]*item)) error {
	var seen, begun keySet
	var batch, gathered []*item
	var delay <-chan time.Time
	gathers := r.gathers()
	add := func(it *item) error {
		if it.foreign {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.waiting = append(r.waiting, it)
			return nil
		}
		if it.resumed {
			return put(ctx, to, it)
		}
		// A dry run has no uploads that could begin early.
		if batch = append(batch, it); len(batch) == 1 && !r.client.Rehearses() {
			delay = time.After(batchDelay)
		}
		return nil
	}
	take := func(it *item) error {
		repeated := !seen.add(cmp.Or(it.content, it.key))
		switch {
		case r.stopping() || r.overBudget() != nil:
		case it.resumed && !begun.add(it.key), !it.resumed && repeated && it.replaces == "":
			r.duplicateCandidates = append(r.duplicateCandidates, it)
		case gathers:
			gathered = append(gathered, it)
		default:
			return add(it)
		}
		return nil
	}
	flush := func() {
		if len(batch) > 0 {
			send(batch)
		}
		batch, delay = nil, nil
	}
	order := newSequence()
	for open := true; open; {
		var ready []*item
		select {
		case t, more := <-from:
			if open = more; open {
				ready = order.add(t)
			} else {
				ready = order.rest()
			}
		case <-delay:
			flush()
		case <-ctx.Done():
			return fault.Stopped(ctx)
		}
		for _, it := range ready {
			if err := take(it); err != nil {
				return err
			}
			if len(batch) == r.options.Batch {
				flush()
			}
		}
	}
	if len(gathered) > 0 && !r.fits(gathered) {
		return nil
	}
	for _, it := range gathered {
		if err := add(it); err != nil {
			return err
		}
		if len(batch) == r.options.Batch {
			flush()
		}
	}
	flush()
	return nil
}

// keySet holds the first halves of keys: a million take 9 MB, in a map two to four times that.
type keySet struct{ buckets [4096][]uint64 }

// add reports whether a key is new.
func (s *keySet) add(key string) bool {
	n, _ := strconv.ParseUint(key[:min(16, len(key))], 16, 64) // keys are hexadecimal
	bucket := &s.buckets[n>>52]                                // keys are hashes, so buckets fill evenly
	at, found := slices.BinarySearch(*bucket, n)
	if !found {
		if n := len(*bucket); n == cap(*bucket) {
			*bucket = append(make([]uint64, 0, n+n/8+4), *bucket...)
		}
		*bucket = slices.Insert(*bucket, at, n)
	}
	return !found
}

func (r *run) createBatch(ctx context.Context, items []*item, to chan<- *item) error {
	created, err := r.createDatasets(ctx, items)
	if err == nil && !r.options.DryRun {
		created, err = r.resolveDuplicates(ctx, created)
	}
	if err != nil {
		return err
	}
	for _, it := range created {
		if err := put(ctx, to, it); err != nil {
			return err
		}
	}
	return nil
}

// createDatasets creates the datasets of items and returns the items without those that the
// platform refused, which are recorded as failed.
func (r *run) createDatasets(ctx context.Context, items []*item) ([]*item, error) {
	items = r.reserve(items)
	todo := items
	for attempt := 1; len(todo) > 0; attempt++ {
		err := r.requestDatasets(ctx, todo)
		switch {
		case err == nil:
			return items, nil
		case ctx.Err() != nil:
			return nil, fault.Stopped(ctx)
		case slices.Contains([]int{http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge,
			http.StatusUnprocessableEntity}, fault.Status(err)):
			return r.bisect(ctx, items, todo, err)
		case !fault.Transient(err) || stopsRun(err) || attempt == createAttempts:
			return nil, err
		}
		// The request may have been processed although its response was lost.
		r.options.Logger.Warn("creating datasets again", "datasets", len(todo), "reason", err)
		if err := r.pause(ctx, time.Second<<(attempt-1)); err != nil {
			return nil, err
		}
		if todo, err = r.notCreated(ctx, todo); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// requestDatasets sends one request to create datasets.
func (r *run) requestDatasets(ctx context.Context, items []*item) error {
	bodies := make([]client.Object, len(items))
	for i, it := range items {
		bodies[i] = r.body(it)
	}
	if !r.sends() {
		return nil
	}
	datasets, err := r.client.Datasets.CreateDatasets(ctx, client.CreateDatasets{Datasets: bodies})
	if err != nil {
		return err
	}
	if len(datasets) != len(items) {
		return fault.Of(&fault.QueryError{}, "the platform created %d datasets instead of %d", len(datasets), len(items))
	}
	r.created.Add(int64(len(datasets)))
	byKey := make(map[string]string, len(datasets))
	for _, d := range datasets {
		byKey[gjson.GetBytes(d.JSON(), "properties."+PropertyName+".key").String()] = d.ID
	}
	for i, it := range items {
		it.created, it.checked = true, time.Now()
		if it.dataset = byKey[it.key]; it.dataset == "" {
			it.dataset = datasets[i].ID
		}
	}
	return nil
}

// bisect finds the items that caused a request's refusal, by sending halves.
func (r *run) bisect(ctx context.Context, items, todo []*item, refused error) ([]*item, error) {
	if len(todo) == 1 {
		todo[0].release()
		if err := r.record(todo[0].failed(refused)); err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it == todo[0] }), nil
	}
	done := slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return slices.Contains(todo, it) })
	for _, half := range [][]*item{todo[:len(todo)/2], todo[len(todo)/2:]} {
		created, err := r.createDatasets(ctx, half)
		if err != nil {
			return nil, err
		}
		done = append(done, created...)
	}
	return done, nil
}

// notCreated returns the items whose datasets do not exist after a request without response.
func (r *run) notCreated(ctx context.Context, items []*item) ([]*item, error) {
	found, err := r.lookup(ctx, items, false)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(items), func(it *item) bool {
		for _, d := range found[it.key] {
			if d.Run == r.id && it.dataset == "" {
				it.dataset, it.created = d.ID, true
			}
		}
		return it.dataset != ""
	}), nil
}

// body returns the dataset of an item as it is sent.
func (r *run) body(it *item) client.Object {
	o := &r.options
	b := client.Object{}
	maps.Copy(b, o.Extra)
	b["name"], b["type"] = it.title, it.Kind
	components := make([]any, len(it.Members))
	for i, m := range it.Members {
		components[i] = map[string]any{"name": m.Component}
	}
	b["components"] = components
	set := func(key string, value any, given bool) {
		if given {
			b[key] = value
		}
	}
	set("company", o.Company, o.Company != "")
	set("project", o.Project, o.Project != "")
	set("mission", o.Mission, o.Mission != "")
	set("flight", o.Flight, o.Flight != "" && it.Kind == "image")
	set("categories", o.Categories, len(o.Categories) > 0)
	for key, value := range map[string]*bool{"hidden": o.Hidden, "published": o.Published} {
		if value != nil {
			b[key] = *value
		}
	}
	p := property{Key: it.key, File: it.Name, Size: it.Size(), Modified: timestamp(it.main().ModTime), Run: r.id,
		PartOf: r.options.PartOf, Content: it.content, Problem: it.problem}
	if o.Replace {
		p.Replaces = it.replaces
	}
	for _, m := range it.Members {
		if path.Dir(m.Name) != path.Dir(it.Name) {
			if p.Parts == nil {
				p.Parts = map[string]string{}
			}
			p.Parts[m.Component] = m.Name
		}
	}
	properties := map[string]any{}
	maps.Copy(properties, o.Properties)
	properties[PropertyName] = p
	b["properties"] = properties
	if it.photo != nil {
		describe(b, it)
	}
	_, given := b["horizontal_srs_wkt"]
	set("horizontal_srs_wkt", it.projection, it.projection != "" && !given)
	return b
}

// describe adds an image's metadata, except for fields set by the caller.
func describe(b client.Object, it *item) {
	p := it.photo
	set := func(key string, value any, known bool) {
		if _, given := b[key]; known && !given {
			b[key] = value
		}
	}
	set("acquisition_date", timestamp(p.Acquired), !p.Acquired.IsZero())
	set("width", p.Width, p.Width > 0)
	set("height", p.Height, p.Height > 0)
	position := []any{p.Longitude, p.Latitude}
	if p.Altitude != nil {
		position = append(position, *p.Altitude)
	}
	set("geometry", map[string]any{"type": "Point", "coordinates": position}, p.HasPosition)
	sensor := map[string]any{}
	if p.Make != "" {
		sensor["make"] = p.Make
	}
	if p.Model != "" {
		sensor["model"] = p.Model
	}
	set("sensor", sensor, len(sensor) > 0)
}

func (r *run) pause(ctx context.Context, d time.Duration) error {
	if r.client.Pause(ctx, d) != nil {
		return fault.Stopped(ctx)
	}
	return nil
}
