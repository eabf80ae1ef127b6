package ingest

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"transect/client"
	"transect/client/fault"
)

// afterwards does what comes when all is sent.
func (r *run) afterwards(ctx context.Context) error {
	if r.o.DryRun {
		return nil
	}
	for _, step := range []func(context.Context) error{r.lateOnes, r.doubles, r.sweep, r.settled, r.await, r.verify} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// each goes through the outcomes that are wanted, some at a time.
func (r *run) each(want func(Outcome) bool, size int, do func([]Outcome) error) error {
	reader, err := r.spool.Read()
	if err != nil {
		return err
	}
	defer reader.Close()
	return chunks(reader, want, size, do)
}

func chunks(reader *OutcomeReader, want func(Outcome) bool, size int, do func([]Outcome) error) error {
	var list []Outcome
	for {
		o, ok, err := reader.Next()
		if err != nil {
			return err
		}
		if ok && want(o) {
			list = append(list, o)
		}
		if len(list) > 0 && (!ok || len(list) == size) {
			if err := do(list); err != nil {
				return err
			}
			list = nil
		}
		if !ok {
			return nil
		}
	}
}

func sentNow(o Outcome) bool { return o.Outcome == Created || o.Outcome == Resumed }

// described reads datasets by their identifiers; those that are gone are
// missing from the answer.
func described(ctx context.Context, c *client.Client, ids []string) (map[string]client.Dataset, error) {
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = id
	}
	limit := max(len(ids), 1)
	page, err := c.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{Limit: &limit,
		Filter: client.Filter{"_id": map[string]any{"$in": list}}, Fields: heldFields}})
	if err != nil {
		return nil, err
	}
	found := make(map[string]client.Dataset, len(page.Results))
	for _, d := range page.Results {
		found[d.ID] = d
	}
	return found, nil
}

// await waits until the platform has read what this run sent. What it cannot
// read has failed.
func (r *run) await(ctx context.Context) error {
	if !r.o.Wait {
		return nil
	}
	failed := map[string]string{}
	err := r.each(sentNow, lookupSize, func(list []Outcome) error {
		waiting := make([]string, len(list))
		for i, o := range list {
			waiting[i] = o.Dataset
		}
		for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
			found, err := described(ctx, r.c, waiting)
			if err != nil {
				return err
			}
			waiting = slices.DeleteFunc(waiting, func(id string) bool {
				d, there := found[id]
				if !there {
					failed[id] = "its dataset was deleted"
					return true
				}
				if d.Ingestion.Status == "failed" {
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
	return r.revise(failed, "look at the file; when it is right, delete its dataset and run again")
}

// verify compares what the platform holds of this run with what was sent.
func (r *run) verify(ctx context.Context) error {
	if !r.o.Verify {
		return nil
	}
	failed := map[string]string{}
	err := r.each(func(o Outcome) bool { return o.Outcome != Failed && o.Dataset != "" }, lookupSize, func(list []Outcome) error {
		verdicts, err := compare(ctx, r.c, r.o.Source.Open, list)
		for _, v := range verdicts {
			if v.Verdict != Same {
				failed[v.Dataset] = "verification: " + v.Verdict + ", " + v.Cause
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.revise(failed, "delete its dataset and run again")
}

// revise turns outcomes, by dataset, into failures after all.
func (r *run) revise(failed map[string]string, hint string) error {
	if len(failed) == 0 {
		return nil
	}
	return r.rewrite(func(o *Outcome) {
		if why := failed[o.Dataset]; why != "" && o.Outcome != Failed {
			r.failAfterAll(o, fault.Hinted(fault.Of(&fault.UploadError{}, "%s", why), "%s", hint))
		}
	})
}

// rewrite goes through the outcomes and changes them.
func (r *run) rewrite(change func(*Outcome)) error {
	reader, err := r.spool.Read()
	if err != nil {
		return err
	}
	defer reader.Close()
	path := r.spool.path + ".new"
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return spoolError(err)
	}
	w := bufio.NewWriterSize(file, 64<<10)
	lines := json.NewEncoder(w)
	for {
		o, ok, err := reader.Next()
		if err == nil && !ok {
			err = w.Flush()
			if err == nil {
				break
			}
		}
		if err != nil {
			return r.notRewritten(file, err)
		}
		change(&o)
		if err := lines.Encode(o); err != nil {
			return r.notRewritten(file, err)
		}
	}
	return r.spool.replace(file)
}

// notRewritten gives up a new list of outcomes; the one that is there stays.
func (r *run) notRewritten(file *os.File, err error) error {
	_ = file.Close()
	_ = os.Remove(file.Name())
	return spoolError(err)
}

func (r *run) failAfterAll(o *Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch o.Outcome {
	case Created:
		r.counts.Created--
	case Resumed:
		r.counts.Resumed--
	case Skipped:
		r.counts.Skipped--
	}
	r.counts.Failed++
	r.o.Progress.Failed.Add(1)
	r.o.Progress.DoneFiles.Add(-1)
	o.fail(err)
	if len(r.failures) < MaxFailures {
		r.failures = append(r.failures, *o)
	}
}
