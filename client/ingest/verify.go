package ingest

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"transect/client"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/internal/reconcile"
	"transect/client/scan"
	"transect/client/verdict"
)

// Verdicts that only Verify returns.
const (
	Different verdict.Verdict = "different" // the platform has other bytes
	Missing   verdict.Verdict = "missing"   // the platform lacks it, or part of it
	Extra     verdict.Verdict = "extra"     // the platform has it, but the source does not
)

// Finding is the result of comparing a local file with the platform.
type Finding struct {
	Name    string          `json:"name"`
	Path    string          `json:"path,omitempty"`
	Size    int64           `json:"size,omitempty"`
	Verdict verdict.Verdict `json:"verdict"`
	Dataset string          `json:"dataset,omitempty"`
	Cause   string          `json:"cause,omitempty"`
}

// Verification is the result of Verify.
type Verification struct {
	verdict.Counts
	Different, Missing, Extra int64
	Findings                  []Finding // findings other than OK, at most MaxFailures

	report  func(Finding) error
	mu      sync.Mutex
	matched map[string]bool // datasets of local files
}

// Verify compares size and checksum of local files with the datasets of the target. It changes
// nothing. report, if not nil, gets every finding, one at a time.
func Verify(ctx context.Context, c *client.Client, o Options, report func(Finding) error) (*Verification, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := o.Target.complete(ctx, c); err != nil {
		return nil, err
	}
	ix, err := load(ctx, c, o.Target, tempDir(o.StateDir))
	if err != nil {
		return nil, err
	}
	defer ix.close()
	v := &Verification{report: report, matched: map[string]bool{}}
	r := &run{client: c, options: o, index: ix, relocated: map[string]bool{}, checker: newChecker(o)}
	defer r.checker.Close()
	err = r.readAll(ctx, &Progress{}, func(skipped *scan.Skipped) error {
		return v.add(Finding{Name: skipped.Name, Path: absolute(skipped.Path), Verdict: skipped.Verdict(),
			Cause: skipped.Why()})
	}, func(ctx context.Context, it *item) error {
		finding, err := v.compareItem(ctx, r, it)
		if err != nil {
			return err
		}
		return v.add(finding)
	})
	if err == nil {
		err = v.addExtras(ctx, r)
	}
	return v, err
}

// VerifyOutcomes compares the files of an earlier run, by its outcomes, with the platform.
func VerifyOutcomes(ctx context.Context, c *client.Client, earlier iter.Seq2[Outcome, error], tree files.Tree,
	report func(Finding) error) (*Verification, error) {
	v := &Verification{report: report}
	err := inBatches(earlier, func(Outcome) bool { return true }, func(list []Outcome) ([]Finding, error) {
		return compare(ctx, c, tree, list)
	}, func(_ []Outcome, findings []Finding) error {
		for _, f := range findings {
			if err := v.add(f); err != nil {
				return err
			}
		}
		return nil
	})
	return v, err
}

// OK reports whether the platform holds exactly the local files.
func (v *Verification) OK() bool { return v.Bad()+v.Different+v.Missing+v.Extra == 0 }

func (v *Verification) add(f Finding) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	bad := true
	switch f.Verdict {
	case Different:
		v.Different++
	case Missing:
		v.Missing++
	case Extra:
		v.Extra++
	default:
		*v.Of(f.Verdict)++
		bad = f.Verdict.Bad()
	}
	if bad && len(v.Findings) < MaxFailures {
		v.Findings = append(v.Findings, f)
	}
	if v.report != nil {
		return v.report(f)
	}
	return nil
}

// compareItem finds the dataset of a local file and compares them.
func (v *Verification) compareItem(ctx context.Context, r *run, it *item) (Finding, error) {
	f := Finding{Name: it.Name, Path: absolute(it.main().Path), Size: it.Size(), Verdict: Missing,
		Cause: "there is no dataset for it"}
	datasets, err := r.index.byName(it.Kind, it.Name)
	if err != nil {
		return f, err
	}
	decision, found, err := r.decide(ctx, it, datasets, func() error { return nil })
	if ctx.Err() != nil {
		return f, fault.Stopped(ctx)
	}
	if err != nil {
		f.Verdict, f.Cause = verdict.Failed, err.Error()
		return f, nil
	}
	o := outcomeOf(it.Item)
	o.Dataset = found.ID
	for _, d := range datasets {
		// A file that needs sending differs from its previous version; an image without a date is
		// matched by name only.
		if o.Dataset == "" && (d.ID == decision.Replaces || d.Key == "" && d.Taken == 0) {
			found, o.Dataset = d, d.ID
		}
	}
	if o.Dataset != "" {
		v.mu.Lock()
		v.matched[o.Dataset] = true
		v.mu.Unlock()
		f = compareOutcome(ctx, r.options.Source.Tree, o, found)
	}
	switch {
	case f.Verdict == verdict.AlreadyThere && decision.Action == reconcile.Skip:
		r.setVerdict(it, decision, found)
		f.Verdict, f.Cause = it.verdict, it.remark
	case it.problem != nil:
		f.Verdict, f.Cause = it.problem.Verdict, it.problem.Cause+"; "+f.Cause
	}
	return f, nil
}

// addExtras adds the datasets that match no local file.
func (v *Verification) addExtras(ctx context.Context, r *run) error {
	unmatched := func(d reconcile.Dataset) bool { return !v.matched[d.ID] }
	return inBatches(r.index.all, unmatched, func(list []reconcile.Dataset) (map[string]client.Dataset, error) {
		ids := make([]string, len(list))
		for i, d := range list {
			ids[i] = d.ID
		}
		return datasetsByID(ctx, r.client, ids)
	}, func(list []reconcile.Dataset, found map[string]client.Dataset) error {
		for _, other := range list {
			d, exists := found[other.ID]
			if !exists || r.options.Source.Kind != "" && d.Type != r.options.Source.Kind {
				continue
			}
			if err := v.add(Finding{Name: d.Name, Verdict: Extra, Dataset: d.ID,
				Cause: "no local file belongs to it"}); err != nil {
				return err
			}
		}
		return nil
	})
}

// compare compares the files of outcomes with the current state of their datasets.
func compare(ctx context.Context, c *client.Client, tree files.Tree, list []Outcome) ([]Finding, error) {
	var ids []string
	for _, o := range list {
		if o.Dataset != "" {
			ids = append(ids, o.Dataset)
		}
	}
	found, err := datasetsByID(ctx, c, ids)
	if err != nil {
		return nil, err
	}
	findings := make([]Finding, len(list))
	for i, o := range list {
		d := found[o.Dataset]
		findings[i] = compareOutcome(ctx, tree, o, recordOf(d))
		if ctx.Err() != nil {
			return nil, fault.Stopped(ctx)
		}
	}
	return findings, nil
}

// compareOutcome compares the files of an outcome with a dataset, whose ID is "" if it does not exist.
func compareOutcome(ctx context.Context, tree files.Tree, o Outcome, d reconcile.Dataset) Finding {
	v := Finding{Name: o.Name, Path: o.Path, Size: o.Size, Dataset: o.Dataset, Verdict: verdict.AlreadyThere}
	if d.ID == "" {
		v.Verdict, v.Cause = Missing, "its dataset does not exist"
		switch {
		case o.Dataset != "":
		case o.Verdict == verdict.Damaged, o.Verdict == verdict.Incomplete, o.Verdict == verdict.LeftOut:
			v.Verdict, v.Cause = o.Verdict, o.Cause
		default:
			v.Cause = "it was not sent"
			if o.Cause != "" {
				v.Cause += ": " + o.Cause
			}
		}
		return v
	}
	for _, p := range o.parts() {
		if v.Verdict, v.Cause = comparePart(ctx, tree, d, p); v.Verdict != verdict.AlreadyThere {
			return v
		}
	}
	switch {
	case d.Verdict != "":
		v.Verdict, v.Cause = d.Verdict, d.Cause
	case o.Verdict == verdict.Duplicate:
		v.Verdict, v.Cause = o.Verdict, o.Cause
	}
	return v
}

func comparePart(ctx context.Context, tree files.Tree, d reconcile.Dataset, p Part) (_ verdict.Verdict,
	cause string) {
	c, _ := d.Component(p.Component)
	if !c.Uploaded {
		return Missing, "its component " + p.Component + " has no file yet"
	}
	if c.Size != 0 && c.Size != p.Size {
		return Different, fmt.Sprintf("its component %s has %d bytes", p.Component, c.Size)
	}
	sum, err := md5Of(ctx, tree, p.Path)
	if err != nil {
		if p.MD5 == "" || fault.Find(err) == nil {
			return Different, err.Error()
		}
		sum = p.MD5 // the file is not readable now; compare what was sent
	}
	if c.MD5 != "" && c.MD5 != sum {
		return Different, "the checksums differ"
	}
	return verdict.AlreadyThere, ""
}
