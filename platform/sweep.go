package platform

import (
	"context"
	"errors"
	"time"

	"transect/platform/store"
)

const (
	sweepEvery = 15 * time.Minute
	sweepAge   = 30 * time.Minute // what is younger may belong to a request in progress
	sweepBatch = 200              // deleted datasets in one transaction

	// DefaultKeepDeleted is how long deleted datasets can be restored.
	DefaultKeepDeleted = 7 * 24 * time.Hour
)

// sweep frees the disk of what nothing needs any more: datasets that were deleted
// too long ago to be restored, blobs that nothing refers to, and pieces of
// uploads that broke off. The process that runs the jobs calls it now and then.
func (p *Platform) sweep(ctx context.Context, now time.Time) {
	err := errors.Join(p.purge(ctx), p.write(ctx, func(t tx) { t.forgetKeys(p.options.Now()) }),
		p.blobs.Sweep(now.Add(-sweepAge)), p.removeUnused(ctx, now.Add(-sweepAge)))
	if err != nil && ctx.Err() == nil {
		p.log.Error("cannot free disk space", "error", err)
	}
}

// purge removes the datasets that were deleted too long ago to be restored.
func (p *Platform) purge(ctx context.Context) error {
	before := date(p.options.Now().Add(-p.options.KeepDeleted))
	for {
		var gone []store.Doc
		err := p.write(ctx, func(t tx) {
			gone = must(t.All(datasets.plural, store.Query{Filter: store.Doc{"deletion_date": store.Doc{"$lt": before}},
				Limit: sweepBatch}))
			for _, doc := range gone {
				id := store.Text(doc, "_id")
				t.exec("DELETE FROM parts WHERE upload IN (SELECT id FROM uploads WHERE dataset = ?)", id)
				t.exec("DELETE FROM uploads WHERE dataset = ?", id)
				t.exec("DELETE FROM components WHERE dataset = ?", id)
				t.exec("DELETE FROM jobs WHERE id = ?", id)
				t.remove(datasets, id)
			}
		})
		if err != nil || len(gone) < sweepBatch {
			return err
		}
	}
}

// removeUnused removes blobs that nothing refers to, except while jobs run that
// make several before they refer to them.
func (p *Platform) removeUnused(ctx context.Context, before time.Time) error {
	idle := p.blobs.Idle(before)
	if len(idle) == 0 {
		return nil
	}
	busy, used := false, map[string]bool{}
	err := p.read(ctx, func(t tx) {
		check(t.QueryRow("SELECT EXISTS (SELECT 1 FROM jobs WHERE kind NOT IN (?, ?))", ingestionJob, previewJob).Scan(&busy))
		for row := range t.rows("SELECT blob FROM components UNION SELECT blob FROM parts UNION SELECT id FROM uploads") {
			var id string
			check(row.Scan(&id))
			used[id] = true
		}
	})
	if err != nil || busy {
		return err
	}
	for _, id := range idle {
		if !used[id] {
			err = errors.Join(err, p.blobs.Remove(id))
		}
	}
	return err
}
