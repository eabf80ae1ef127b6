package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"transect/client/fault"
)

// finish does what follows the uploads.
func (r *run) finish(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		r.waitForOthers, r.deleteDuplicates, r.deleteOrphans, r.nameDatasets, r.waitForIngestion, r.verify,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func isCopy(o Outcome) bool { return o.Verdict == Duplicate && o.Dataset == "" }

// nameDatasets gives copies of files the dataset of the file they repeat, and
// outcomes with a duplicate that was deleted the one that is kept. A copy of a
// file that failed has failed.
func (r *run) nameDatasets(context.Context) error {
	if len(r.copies) == 0 && len(r.discarded) == 0 {
		return nil
	}
	for o, err := range r.outcomes.All {
		if err != nil {
			return err
		}
		if _, repeated := r.copies[o.Key]; repeated && !o.Verdict.Bad() && o.Dataset != "" {
			r.copies[o.Key] = o.Dataset
		}
	}
	return r.outcomes.rewrite(func(o *Outcome) {
		if isCopy(*o) {
			if o.Dataset = r.copies[o.Key]; o.Dataset == "" {
				r.failLater(o, fault.Hinted(fault.Of(&fault.UploadError{}, "it is a copy of a file that failed"), "run again"))
			}
		}
		if kept := r.discarded[o.Dataset]; kept != "" {
			o.Dataset = kept
		}
	})
}

// waitForIngestion waits until the platform has processed what this run sent.
// What it cannot read has failed.
func (r *run) waitForIngestion(ctx context.Context) error {
	if !r.options.Wait {
		return nil
	}
	failed := map[string]string{}
	sent := func(o Outcome) bool { return o.Verdict == Uploaded }
	err := inBatches(r.outcomes.All, sent, func(list []Outcome) error {
		waiting := make([]string, len(list))
		for i, o := range list {
			waiting[i] = o.Dataset
		}
		for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
			found, err := described(ctx, r.client, waiting)
			if err != nil {
				return err
			}
			waiting = slices.DeleteFunc(waiting, func(id string) bool {
				d, exists := found[id]
				switch {
				case !exists:
					failed[id] = "its dataset was deleted"
				case d.Ingestion.Status == "failed":
					failed[id] = "the platform could not read it"
					if why := gjson.GetBytes(d.JSON(), "ingestion.error.message").String(); why != "" {
						failed[id] += ": " + why
					}
				}
				return d.Ingestion.Status != "running" && d.Ingestion.Status != "pending"
			})
			if len(waiting) == 0 {
				return nil
			}
			if err := r.pause(ctx, wait); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	return r.failDatasets(failed, "look at the file; when it is right, delete its dataset and run again")
}

// verify compares what the platform holds with what was sent.
func (r *run) verify(ctx context.Context) error {
	if !r.options.Verify {
		return nil
	}
	failed := map[string]string{}
	uploaded := func(o Outcome) bool { return !o.Verdict.Bad() && o.Dataset != "" }
	err := inBatches(r.outcomes.All, uploaded, func(list []Outcome) error {
		verdicts, err := compare(ctx, r.client, r.options.Source.Open, list)
		for _, v := range verdicts {
			if v.Verdict != AlreadyThere {
				failed[v.Dataset] = "verification: " + string(v.Verdict) + ", " + v.Cause
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.failDatasets(failed, "delete its dataset and run again")
}

// failDatasets turns the outcomes of datasets into failures.
func (r *run) failDatasets(failed map[string]string, hint string) error {
	if len(failed) == 0 {
		return nil
	}
	return r.outcomes.rewrite(func(o *Outcome) {
		if why := failed[o.Dataset]; why != "" && !o.Verdict.Bad() {
			r.failLater(o, fault.Hinted(fault.Of(&fault.UploadError{}, "%s", why), "%s", hint))
		}
	})
}

// failLater turns an outcome that was counted already into a failure.
func (r *run) failLater(o *Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.counts.Of(o.Verdict)--
	r.counts.Failed++
	r.options.Progress.Failed.Add(1)
	r.options.Progress.DoneFiles.Add(-1)
	o.fail(err)
	if len(r.failures) < MaxFailures {
		r.failures = append(r.failures, *o)
	}
}
