package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
	"transect/client/schema"
	"transect/client/verdict"
)

// stallTimeout is how long a run waits for the platform to read another file.
const stallTimeout = 10 * time.Minute

// errStalled ends the wait for a platform that makes no progress.
var errStalled = errors.New("the platform makes no progress")

// waitForIngestion waits until the platform has read the files this run sent, and those it had not
// read at the start. It adds files that the platform has not read, or cannot read, to unread.
func (r *run) waitForIngestion(ctx context.Context, unread map[string]client.Dataset) error {
	if !r.options.Wait {
		return nil
	}
	created := false
	err := inBatches(r.outcomes.All, func(o Outcome) bool {
		own := o.Sent && !o.Resumed
		created = created || own
		return !own && (o.Sent || o.Pending)
	}, func([]Outcome) (struct{}, error) { return struct{}{}, nil }, func(list []Outcome, _ struct{}) error {
		ids := make([]any, len(list))
		for i, o := range list {
			ids[i] = o.Dataset
		}
		return r.waitFor(ctx, client.Filter{"_id": map[string]any{"$in": ids}}, unread)
	})
	if err == nil && created {
		filter := r.options.Target.filter()
		filter["properties."+PropertyName+".run"] = map[string]any{"$eq": r.id}
		err = r.waitFor(ctx, filter, unread)
	}
	return err
}

// recordUnread records the findings of waitForIngestion: files that the platform cannot read are refused.
func (r *run) recordUnread(unread map[string]client.Dataset) error {
	if !r.options.Wait || len(unread) == 0 && r.pending == 0 {
		return nil
	}
	r.pending = 0
	return r.outcomes.rewrite(func(o *Outcome) {
		d, ok := unread[o.Dataset]
		refused := ok && d.Ingestion.Status == "failed"
		o.Pending = ok && !refused && !o.Verdict.Bad()
		if o.Pending {
			r.pending++
		}
		if refused && (o.Sent || o.Verdict == verdict.AlreadyThere) {
			r.refuse(o, refusal(gjson.GetBytes(d.JSON(), "ingestion.error.message").String()))
		}
	})
}

// refuse records that the platform could not read a file. A damaged file remains damaged.
func (r *run) refuse(o *Outcome, cause string) {
	if !o.Verdict.Bad() {
		r.changeVerdict(o, verdict.Refused, cause, refusalHint)
		return
	}
	o.Cause += "; " + cause
	for i := range r.failures {
		if r.failures[i].Dataset == o.Dataset {
			r.failures[i].Cause = o.Cause
		}
	}
}

// waitFor waits for the datasets that a filter selects, and adds those that the platform has not
// read, or could not read, to unread.
func (r *run) waitFor(ctx context.Context, filter client.Filter, unread map[string]client.Dataset) error {
	state, err := r.poll(ctx, filter)
	if errors.Is(err, errStalled) {
		r.options.Logger.Warn("the platform has read no further file for "+r.options.stall().String()+
			"; the run no longer waits for it", "ingest", r.id)
	} else if err != nil || state.Pending+state.Failed == 0 {
		return err
	}
	open := map[string]any{"ingestion.status": map[string]any{"$ne": "completed"}}
	return search(ctx, r.client, client.Filter{"$and": []any{map[string]any(filter), open}},
		func(d client.Dataset) { unread[d.ID] = d })
}

// poll returns when the platform has read all datasets, with errStalled when it makes no progress,
// or with an error that ends the run.
func (r *run) poll(ctx context.Context, filter client.Filter) (client.IngestionState, error) {
	polling, end := context.WithCancelCause(ctx)
	defer end(nil)
	stalled := time.AfterFunc(r.options.stall(), func() { end(errStalled) })
	defer stalled.Stop()
	go func() {
		select {
		case <-r.options.Stop:
			end(fault.Of(&fault.CancelledError{}, "stop requested"))
		case <-polling.Done():
		}
	}()
	progress := func(state any) error {
		stalled.Reset(r.options.stall())
		if s, ok := state.(client.IngestionState); ok {
			r.options.Progress.Unread.Store(s.Pending)
		}
		return nil
	}
	defer r.options.Progress.Unread.Store(0)
	state, err := r.client.Datasets.Wait(polling,
		client.WaitForDatasets{Filter: filter, Waiting: client.Waiting{OnChange: schema.Callback(progress)}})
	switch {
	case ctx.Err() != nil:
		return state, fault.Stopped(ctx)
	case polling.Err() != nil:
		return state, context.Cause(polling)
	}
	return state, err
}
