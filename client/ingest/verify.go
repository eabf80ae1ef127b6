package ingest

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"transect/client"
	"transect/client/fault"
	"transect/client/imagery"
	"transect/client/scan"
)

// The verdicts on a file.
const (
	Same      = "same"
	Different = "different" // the platform holds other bytes
	Missing   = "missing"   // the platform does not hold it, or not all of it
	Extra     = "extra"     // the platform holds it, the source does not
)

// Verdict is how a local file and what the platform holds of it compare.
type Verdict struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Size    int64  `json:"size,omitempty"`
	Verdict string `json:"verdict"`
	Dataset string `json:"dataset,omitempty"`
	Cause   string `json:"cause,omitempty"`
}

// Verification is the result of Verify.
type Verification struct {
	Same, Different, Missing, Extra int64
	Findings                        []Verdict // all but the same, MaxFailures of them at most
}

// Verify compares local files, size and checksum, with what the platform
// holds at the target. Nothing is changed. tell gets every verdict, one at a
// time; it may be nil.
func Verify(ctx context.Context, c *client.Client, o Options, tell func(Verdict) error) (*Verification, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := o.Target.complete(ctx, c); err != nil {
		return nil, err
	}
	v := &verification{tell: tell}
	ix, err := load(ctx, c, o.Target, spoolDir(o.StateDir))
	if err != nil {
		return nil, err
	}
	defer ix.close()
	v.matched = make([]bool, ix.list.Len())
	r := &run{c: c, o: o, index: ix}
	group, inner := errgroup.WithContext(ctx)
	found := make(chan *work, 256)
	group.Go(func() error {
		defer close(found)
		return named(r.gathered(inner, found, func(skipped *scan.Skipped) error {
			if skipped.Passed() {
				return nil
			}
			return v.add(Verdict{Name: skipped.Name, Path: absolute(skipped.Path), Verdict: Missing, Cause: skipped.Why()})
		}))
	})
	for range 2 * runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			reader := &reader{r, make([]byte, 3*sample)}
			for w := range found {
				if err := v.judge(inner, reader, w); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fault.Stopped(ctx)
	}
	return &v.Verification, v.extras(ctx, r)
}

// VerifyOutcomes does the same for the files of an earlier run, as its
// outcomes tell of them.
func VerifyOutcomes(ctx context.Context, c *client.Client, earlier *OutcomeReader, open imagery.Opener, tell func(Verdict) error) (*Verification, error) {
	v := &verification{tell: tell}
	all := func(Outcome) bool { return true }
	err := chunks(earlier, all, lookupSize, func(list []Outcome) error {
		verdicts, err := compare(ctx, c, open, list)
		if err != nil {
			return err
		}
		for _, verdict := range verdicts {
			if err := v.add(verdict); err != nil {
				return err
			}
		}
		return nil
	})
	return &v.Verification, err
}

type verification struct {
	Verification
	tell    func(Verdict) error
	mu      sync.Mutex
	matched []bool // of the index's records, what a local file belongs to
}

func (v *verification) add(verdict Verdict) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch verdict.Verdict {
	case Same:
		v.Same++
	case Different:
		v.Different++
	case Missing:
		v.Missing++
	case Extra:
		v.Extra++
	}
	if verdict.Verdict != Same && len(v.Findings) < MaxFailures {
		v.Findings = append(v.Findings, verdict)
	}
	if v.tell != nil {
		return v.tell(verdict)
	}
	return nil
}

// judge finds the dataset of a local file and compares them.
func (v *verification) judge(ctx context.Context, r *reader, w *work) error {
	verdict := Verdict{Name: w.item.Name, Path: absolute(w.first().Path), Size: w.item.Size(), Verdict: Missing, Cause: "there is no dataset for it"}
	if err := r.read(w); w.key == "" {
		verdict.Cause = err.Error()
		return v.add(verdict)
	}
	candidates, err := r.index.of(identity(w.item.Kind, w.item.Name))
	if err != nil {
		return err
	}
	var best *held
	for i := range candidates {
		h := &candidates[i]
		same := h.key != 0 && h.key == short(w.key)
		if same || h.key == 0 && (w.item.Kind != "image" || h.taken == 0 || w.photo != nil && h.taken == w.photo.Acquired.UnixMilli()) {
			best = h
		}
		if same && h.state&complete != 0 {
			break
		}
		if best == nil && r.earlier(w, h) {
			best = h
		}
	}
	if best == nil {
		if best, _, err = r.moved(ctx, w); err != nil {
			return err
		}
		if best == nil {
			return v.add(verdict)
		}
	}
	h := best
	v.mu.Lock()
	v.matched[h.number] = true
	v.mu.Unlock()
	o := outcomeOf(w.item)
	o.Dataset = r.index.dataset(h)
	if len(o.Files) == 0 && h.state&complete != 0 && h.sum != 0 {
		sum, err := md5Of(ctx, r.o.Source.Open, w.first().Path)
		if err != nil {
			return err
		}
		verdict.Dataset, verdict.Verdict, verdict.Cause = o.Dataset, Same, ""
		if short(sum) != h.sum {
			verdict.Verdict, verdict.Cause = Different, "the checksums differ"
		}
		return v.add(verdict)
	}
	verdicts, err := compare(ctx, r.c, r.o.Source.Open, []Outcome{o})
	if err != nil {
		return err
	}
	return v.add(verdicts[0])
}

// extras tells what nothing local belongs to.
func (v *verification) extras(ctx context.Context, r *run) error {
	ix := r.index
	var ids []string
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		found, err := described(ctx, r.c, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if d, there := found[id]; there && (r.o.Source.Kind == "" || d.Type == r.o.Source.Kind) {
				if err := v.add(Verdict{Name: d.Name, Verdict: Extra, Dataset: id, Cause: "no local file belongs to it"}); err != nil {
					return err
				}
			}
		}
		ids = ids[:0]
		return nil
	}
	for i, matched := range v.matched {
		if matched {
			continue
		}
		h, err := ix.at(i)
		if err != nil {
			return err
		}
		if ids = append(ids, ix.dataset(&h)); len(ids) == lookupSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
