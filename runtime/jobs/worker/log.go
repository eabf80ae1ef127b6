package worker

import (
	"context"

	"transect/runtime/jobs"
)

// keepBatch adds a batch to the log of the attempt, while its worker is alive. It retries while the database
// does not answer.
func (a *attempt) keepBatch(ctx context.Context, b batch) error {
	return a.s.retry(ctx, a.slow, func(ctx context.Context) error {
		alive, err := a.s.store.AppendLog(ctx, a.s.id, jobs.Batch{Run: a.id, Seq: b.seq, Stream: b.stream,
			Lines: string(b.lines)})
		if err == nil && !alive {
			err = errTaken
		}
		return err
	})
}

// dropBatches empties batches in the middle of a log; the first one gets a note about it.
func (a *attempt) dropBatches(ctx context.Context, from, to int64, note string) error {
	return a.s.retry(ctx, a.slow, func(ctx context.Context) error {
		return a.s.store.Tx(ctx, func(tx *jobs.Tx) error {
			if _, err := tx.ExecContext(ctx,
				"update tr_log set lines = '' where run_id = $1 and seq > $2 and seq <= $3 and lines <> ''", a.id, from,
				to); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "update tr_log set lines = $1, stream = $2 where run_id = $3 and seq = $4", note,
				jobs.StreamWorker, a.id, from)
			return err
		})
	})
}
