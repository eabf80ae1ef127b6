package ingest

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"transect/client"
	"transect/client/fault"
	"transect/client/internal/reconcile"
	"transect/client/scan"
	"transect/client/transfer"
	"transect/client/verdict"
)

// maxConflicts is how often a file is sent again when another run is sending it, too.
const maxConflicts = 6

// upload sends the files of an item and records the outcome. It returns only
// errors that end the run.
func (r *run) upload(ctx context.Context, it *item) error {
	defer it.release()
	if r.sends() {
		err := r.uploadItem(ctx, it)
		if err == nil && it.elsewhere {
			return r.skip(it, verdict.AlreadyThere, it.dataset, reconcile.OtherRun)
		}
		if err != nil {
			uploaded, err := r.uploadedElsewhere(ctx, it, err)
			if ctx.Err() != nil {
				return fault.Stopped(ctx)
			}
			if uploaded {
				return r.skip(it, verdict.AlreadyThere, it.dataset, reconcile.OtherRun)
			}
			if r.breaker.fatal(ctx, err) {
				return err
			}
			r.dropUnused(ctx, it)
			return r.record(it.failed(it.sourceError(r.options.Source.Tree, err)))
		}
		it.sent = true
		r.breaker.success()
		if err := r.deletePrevious(ctx, it); err != nil {
			return r.notReplaced(ctx, it, err)
		}
	}
	return r.record(it.result())
}

// dropUnused deletes the dataset created for a file that has changed since: the next run would create
// another one for the new content.
func (r *run) dropUnused(ctx context.Context, it *item) {
	info, err := r.options.Source.Tree.Stat(it.main().Path)
	changed := err == nil && (info.Size() != it.main().Size || !info.ModTime().Round(0).Equal(it.main().ModTime))
	if !it.created || !changed || slices.ContainsFunc(it.md5s, func(sum string) bool { return sum != "" }) {
		return
	}
	if err := r.delete(ctx, []string{it.dataset}); err != nil {
		r.options.Logger.Warn("the empty dataset of a file that changed cannot be deleted", "dataset", it.dataset,
			"reason", err)
		return
	}
	it.dataset = ""
}

// uploadItem sends the missing files of an item.
func (r *run) uploadItem(ctx context.Context, it *item) error {
	it.md5s = make([]string, len(it.Members))
	if it.resumed && len(it.Members) > 1 {
		if err := r.findUploaded(ctx, it); err != nil {
			return err
		}
	}
	for i := range it.Members {
		if it.uploaded != nil && it.uploaded[i] {
			continue
		}
		var err error
		if it.md5s[i], err = r.uploadFile(ctx, it, i); err != nil {
			return err
		}
	}
	return nil
}

// staleAfter is how long information about a dataset remains valid.
const staleAfter = 5 * time.Second

// errElsewhere ends an upload that another run has made unnecessary.
var errElsewhere = fault.Of(&fault.UploadError{}, reconcile.OtherRun)

// uploadFile sends one file, unless another run has sent it meanwhile. A conflict means that
// another run is sending it, too: whichever finishes has done it for both.
func (r *run) uploadFile(ctx context.Context, it *item, member int) (sum string, err error) {
	m, p := it.Members[member], r.options.Progress
	var counted atomic.Int64
	how := client.TransferOptions{
		Progress: func(delta int64) {
			p.Transferred.Add(delta)
			p.DoneBytes.Add(delta)
			counted.Add(delta)
		},
		Found:    func(delta int64) { p.Transferred.Add(-delta) },
		Uploaded: func(u transfer.Uploaded) { sum = u.MD5 },
		New:      it.created,
		Turn:     int64(it.order) + 1,
	}
	elsewhere := false
	how.Begin = func(ctx context.Context) error {
		if time.Since(it.checked) < staleAfter {
			return nil
		}
		it.checked = time.Now()
		d, err := r.describe(ctx, it.dataset)
		if c, _ := d.Component(m.Component); err == nil && c.Uploaded {
			elsewhere = true
			return errElsewhere
		}
		return nil // the upload meets any other error itself
	}
	if it.reserved != nil {
		how.Reserved = it.reserved[member]
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			p.DoneBytes.Add(-counted.Load()) // the bytes of a file that failed are not done
		}
	}()
	for attempt := 1; ; attempt++ {
		_, err = r.client.Datasets.UploadFile(client.WithTransfers(ctx, how),
			client.UploadFile{Dataset: client.ID(it.dataset), Component: m.Component, FilePath: client.Path(m.Path)})
		if err == nil || !elsewhere && fault.Status(err) != http.StatusConflict &&
			fault.Status(err) != http.StatusBadRequest {
			return sum, err
		}
		if sum, ok := r.uploadedBytes(ctx, it.dataset, m); ok {
			p.DoneBytes.Add(-counted.Load())
			it.elsewhere = true
			return sum, nil
		}
		if !elsewhere && !contested(err, attempt) {
			return sum, err
		}
		elsewhere, it.checked = false, time.Time{}
		how.New, how.Reserved = false, nil
		if err := r.pause(ctx, rand.N(time.Duration(attempt)*300*time.Millisecond)); err != nil {
			return "", err
		}
	}
}

// contested reports whether an error means that another run sends the file, too, and took over its
// upload: a conflict, or missing parts.
func contested(err error, attempt int) bool {
	switch fault.Status(err) {
	case http.StatusConflict:
		return attempt <= maxConflicts
	case http.StatusBadRequest:
		return attempt <= 2
	}
	return false
}

// uploadedBytes reports whether another run has uploaded the same file.
func (r *run) uploadedBytes(ctx context.Context, dataset string, m scan.Member) (string, bool) {
	d, err := r.describe(ctx, dataset)
	c, ok := d.Component(m.Component)
	if err != nil || !ok || !c.Uploaded {
		return "", false
	}
	sum, err := md5Of(ctx, r.options.Source.Tree, m.Path)
	return sum, err == nil && sum == c.MD5
}

func (r *run) describe(ctx context.Context, dataset string) (reconcile.Dataset, error) {
	d, err := r.client.Datasets.Describe(ctx, client.Refs{IDs: client.IDs{dataset}})
	if err != nil || len(d) == 0 {
		return reconcile.Dataset{}, err
	}
	return recordOf(d[0]), nil
}

// findUploaded determines which files of a dataset are already uploaded.
func (r *run) findUploaded(ctx context.Context, it *item) error {
	d, err := r.describe(ctx, it.dataset)
	if err != nil || d.ID == "" {
		return err
	}
	it.uploaded = make([]bool, len(it.Members))
	for i, m := range it.Members {
		if c, _ := d.Component(m.Component); c.Uploaded {
			it.uploaded[i], it.md5s[i] = true, c.MD5
			r.options.Progress.DoneBytes.Add(m.Size)
		}
	}
	return nil
}

// deletePrevious deletes the dataset of the file's previous version once the new one is complete.
// It can be restored.
func (r *run) deletePrevious(ctx context.Context, it *item) error {
	if !r.options.Replace || !r.sends() {
		return nil
	}
	for _, id := range it.superseded {
		r.addOrphans([]reconcile.Orphan{{ID: id, Survivor: it.dataset, Superseded: true}})
	}
	if it.replaces == "" {
		return nil
	}
	_, err := r.client.Datasets.Delete(ctx, client.DatasetList{Dataset: client.IDs{it.replaces}})
	if err == nil || fault.Status(err) == http.StatusNotFound {
		it.remark = "changed: it replaces dataset " + it.replaces + ", which was deleted and can be restored"
		return nil
	}
	return err
}

// notReplaced records a file that is uploaded although its previous version could not be deleted.
// The next run tries again.
func (r *run) notReplaced(ctx context.Context, it *item, err error) error {
	if ctx.Err() != nil {
		return fault.Stopped(ctx)
	}
	if r.breaker.fatal(ctx, err) {
		return err
	}
	return r.record(it.failed(fault.Hinted(fault.Of(&fault.UploadError{},
		"it is uploaded, as dataset %s, but the dataset of its earlier state, %s, could not be deleted: %w", it.dataset,
		it.replaces, err),
		"run again, or delete dataset %s by hand", it.replaces)))
}
