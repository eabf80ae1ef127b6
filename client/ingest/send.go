package ingest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
	"transect/client/scan"
	"transect/client/transfer"
)

// conflicts is how often a file is sent again when another run is sending it
// as well.
const conflicts = 6

func (r *run) sendAll(ctx context.Context, works <-chan *work) error {
	for w := range works {
		if ctx.Err() != nil {
			return fault.Stopped(ctx)
		}
		if r.stopping() {
			continue
		}
		if err := r.send(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// send brings the files of one work to its dataset and tells the outcome. Only
// errors that concern everything are returned.
func (r *run) send(ctx context.Context, w *work) error {
	if !r.o.DryRun {
		if err := r.upload(ctx, w); err != nil {
			there, err := r.brought(ctx, w, err)
			if ctx.Err() != nil {
				return fault.Stopped(ctx)
			}
			if there {
				return r.skip(w, w.dataset, "another run brought it")
			}
			if r.fatal(ctx, err) {
				return err
			}
			return r.end(w.failed(w.gone(err)))
		}
		r.success()
		if err := r.replace(ctx, w); err != nil {
			return r.unreplaced(ctx, w, err)
		}
	}
	return r.end(w.result())
}

// upload sends what is missing of a work.
func (r *run) upload(ctx context.Context, w *work) error {
	w.sums = make([]string, len(w.item.Members))
	if w.outcome == Resumed && len(w.item.Members) > 1 {
		if err := r.parts(ctx, w); err != nil {
			return err
		}
	}
	for i, m := range w.item.Members {
		if w.there != nil && w.there[i] {
			continue
		}
		var err error
		if w.sums[i], err = r.file(ctx, w, m); err != nil {
			return err
		}
	}
	return nil
}

// file sends one file. A conflict means that another run is sending it, too:
// whoever comes to the end has done it for both.
func (r *run) file(ctx context.Context, w *work, m scan.Member) (sum string, err error) {
	p := r.o.Progress
	var counted atomic.Int64
	how := client.Transferring{
		Progress: func(delta int64) {
			p.Moved.Add(delta)
			p.DoneBytes.Add(delta)
			counted.Add(delta)
		},
		Found:    func(delta int64) { p.Moved.Add(-delta) },
		Uploaded: func(u transfer.Uploaded) { sum = u.MD5 },
		New:      w.created,
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			p.DoneBytes.Add(-counted.Load()) // what came of a file that failed is not done
		}
	}()
	for attempt := 1; ; attempt++ {
		_, err = r.c.Datasets.UploadFile(client.WithTransfers(ctx, how),
			client.UploadFile{Dataset: client.ID(w.dataset), Component: m.Component, FilePath: client.Path(m.Path)})
		if !contested(err, attempt) {
			return sum, err
		}
		if sum, ok := r.completed(ctx, w.dataset, m.Component, m.Path); ok {
			return sum, nil
		}
		how.New = false
		if err := r.pause(ctx, rand.N(time.Duration(attempt)*300*time.Millisecond)); err != nil {
			return "", err
		}
	}
}

// contested tells errors that a file meets when another run sends it as well,
// and takes the place of its upload: a conflict, or parts that never came.
func contested(err error, attempt int) bool {
	switch status(err) {
	case http.StatusConflict:
		return attempt <= conflicts
	case http.StatusBadRequest:
		return attempt <= 2
	}
	return false
}

// completed tells whether a component has the very file, brought by another run.
func (r *run) completed(ctx context.Context, dataset, component, path string) (string, bool) {
	c, err := r.component(ctx, dataset, component)
	if err != nil || c.Get("status").String() != "completed" {
		return "", false
	}
	sum, err := md5Of(ctx, r.o.Source.Open, path)
	return sum, err == nil && sum == c.Get("checksum").String()
}

func (r *run) component(ctx context.Context, dataset, name string) (gjson.Result, error) {
	d, err := r.c.Datasets.Describe(ctx, client.DatasetIDs{Dataset: client.IDs{dataset}})
	if err != nil || len(d) == 0 {
		return gjson.Result{}, err
	}
	return gjson.GetBytes(d[0].JSON(), `components.#(name=="`+name+`")`), nil
}

// parts finds out which files of a dataset are there already.
func (r *run) parts(ctx context.Context, w *work) error {
	d, err := r.c.Datasets.Describe(ctx, client.DatasetIDs{Dataset: client.IDs{w.dataset}})
	if err != nil || len(d) == 0 {
		return err
	}
	w.there = make([]bool, len(w.item.Members))
	for i, m := range w.item.Members {
		c := gjson.GetBytes(d[0].JSON(), `components.#(name=="`+m.Component+`")`)
		if w.there[i] = c.Get("status").String() == "completed"; w.there[i] {
			w.sums[i] = c.Get("checksum").String()
			r.o.Progress.DoneBytes.Add(m.Size)
		}
	}
	return nil
}

// replace takes the dataset of an earlier state of the file away, now that the
// new one is complete. It can be restored.
func (r *run) replace(ctx context.Context, w *work) error {
	if !r.o.Replace || r.o.DryRun {
		return nil
	}
	for _, id := range w.strays {
		r.stray(id, w.dataset, true)
	}
	if w.earlier == "" {
		return nil
	}
	_, err := r.c.Datasets.Delete(ctx, client.DatasetList{Dataset: client.IDs{w.earlier}})
	if err == nil || status(err) == http.StatusNotFound {
		w.remark = "changed: it takes the place of dataset " + w.earlier + ", which was deleted and can be restored"
		return nil
	}
	return err
}

// unreplaced is what becomes of a work that is there, but so is its earlier
// state: not what was asked for, and the next run tries again.
func (r *run) unreplaced(ctx context.Context, w *work, err error) error {
	if ctx.Err() != nil {
		return fault.Stopped(ctx)
	}
	if r.fatal(ctx, err) {
		return err
	}
	return r.end(w.failed(fault.Hinted(fault.Of(&fault.UploadError{},
		"it is there, as dataset %s, but the dataset of its earlier state, %s, could not be deleted: %w", w.dataset, w.earlier, err),
		"run again, or delete dataset %s by hand", w.earlier)))
}
