package ingest

import (
	"context"

	"transect/client/fault"
)

// A source can hold one photo twice, below two folders. One of the two goes;
// the other is a copy, skipped before it is known what becomes of the first. In
// the end copies get the dataset of the file they repeat, and have failed when
// that has. Other outcomes name a dataset that this run let go of in favour of
// one with a smaller identifier: they get that.

const copyRemark = "a copy of a file that goes with this run"

func isCopy(o Outcome) bool { return o.Outcome == Skipped && o.Dataset == "" }

// settled makes the outcomes name the datasets that stay.
func (r *run) settled(context.Context) error {
	if !r.copied && len(r.given) == 0 {
		return nil
	}
	sent := map[string]string{} // datasets by the keys of copies
	err := r.each(isCopy, lookupSize, func(list []Outcome) error {
		for _, o := range list {
			sent[o.Key] = ""
		}
		return nil
	})
	if err == nil && len(sent) > 0 {
		err = r.each(func(o Outcome) bool { return o.Outcome != Failed && o.Dataset != "" }, lookupSize, func(list []Outcome) error {
			for _, o := range list {
				if _, repeated := sent[o.Key]; repeated {
					sent[o.Key] = o.Dataset
				}
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	return r.rewrite(func(o *Outcome) {
		if isCopy(*o) {
			if o.Dataset = sent[o.Key]; o.Dataset == "" {
				r.failAfterAll(o, fault.Hinted(fault.Of(&fault.UploadError{}, "it is a copy of a file that failed"), "run again"))
			}
		}
		if kept := r.given[o.Dataset]; kept != "" {
			o.Dataset = kept
		}
	})
}
