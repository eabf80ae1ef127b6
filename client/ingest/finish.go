package ingest

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/fault"
	"transect/client/verdict"
)

// finish runs the steps that follow the uploads.
func (r *run) finish(ctx context.Context) error {
	if r.options.DryRun {
		return r.resolveCandidates(ctx)
	}
	if err := runSteps(ctx, r.waitForOthers, r.resolveCandidates); err != nil {
		return err
	}
	// The platform reads the files while this run searches for duplicates.
	unread := map[string]client.Dataset{}
	waiting, end := context.WithCancel(ctx)
	defer end()
	var ingestion errgroup.Group
	ingestion.Go(func() error { return r.waitForIngestion(waiting, unread) })
	err := runSteps(ctx, r.deleteDuplicates, r.deleteOrphans)
	if err != nil {
		end()
	}
	if err = cmp.Or(err, ingestion.Wait()); err != nil {
		return err
	}
	return runSteps(ctx, r.nameDatasets, func(context.Context) error { return r.recordUnread(unread) }, r.verify)
}

// runSteps runs steps until one fails.
func runSteps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// nameDatasets replaces deleted duplicates in outcomes by the dataset that was kept.
func (r *run) nameDatasets(context.Context) error {
	if len(r.discarded) == 0 {
		return nil
	}
	return r.outcomes.rewrite(func(o *Outcome) {
		if kept := r.discarded[o.Dataset]; kept != "" {
			o.Dataset = kept
		}
	})
}

// verify compares the files on the platform with those sent.
func (r *run) verify(ctx context.Context) error {
	if !r.options.Verify {
		return nil
	}
	failed := map[string]string{}
	uploaded := func(o Outcome) bool { return !o.Verdict.Bad() && o.Dataset != "" }
	err := inBatches(r.outcomes.All, uploaded, func(list []Outcome) ([]Finding, error) {
		return compare(ctx, r.client, r.options.Source.Tree, list)
	}, func(_ []Outcome, findings []Finding) error {
		for _, f := range findings {
			switch f.Verdict {
			case Missing, Different:
				failed[f.Dataset] = "verification: " + string(f.Verdict) + ", " + f.Cause
			case verdict.AlreadyThere, verdict.Duplicate:
				r.verified++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.failDatasets(failed,
		"find out which of the two is right: keep the dataset when the local file is damaged; when the file is right, "+
			"delete the dataset and run again")
}

// failDatasets marks the outcomes of datasets as failed.
func (r *run) failDatasets(failed map[string]string, hint string) error {
	if len(failed) == 0 {
		return nil
	}
	return r.outcomes.rewrite(func(o *Outcome) {
		if why := failed[o.Dataset]; why != "" && !o.Verdict.Bad() {
			r.changeVerdict(o, verdict.Failed, why, hint)
		}
	})
}

// changeVerdict replaces the verdict of a counted outcome by a bad one.
func (r *run) changeVerdict(o *Outcome, v verdict.Verdict, cause, hint string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.counts.Of(o.Verdict)--
	*r.counts.Of(v)++
	r.options.Progress.Failed.Add(1)
	r.options.Progress.DoneFiles.Add(-1)
	o.Verdict, o.Cause, o.Hint, o.Pending = v, cause, hint, false
	o.err = fault.Hinted(fault.Of(&fault.UploadError{}, "%s", cause), "%s", hint)
	if len(r.failures) < MaxFailures {
		r.failures = append(r.failures, *o)
	}
}
