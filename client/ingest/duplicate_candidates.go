package ingest

import (
	"context"
	"path"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"transect/client/fault"
	"transect/client/scan"
	"transect/client/verdict"
)

// A duplicate candidate is a file with the same samples as an earlier file of the run. Whether it
// is a duplicate depends on both checksums; whether it must be sent, on the outcome of the other
// file at the end of the run.

// original is the file that a candidate seems to repeat.
type original struct {
	name, dataset string
	failed        bool
}

// resolveCandidates records the candidates that are duplicates and sends the others.
func (r *run) resolveCandidates(ctx context.Context) error {
	if err := r.hashCandidates(ctx); err != nil {
		return err
	}
	left, err := r.recordDuplicates(ctx, r.duplicateCandidates)
	if err != nil {
		return err
	}
	var again []*item
	first := map[string]bool{}
	for _, it := range left {
		print := fingerprint(it.result())
		if first[print] {
			again = append(again, it)
			continue
		}
		first[print] = true
		created, err := r.createDatasets(ctx, []*item{it})
		if err != nil {
			return err
		}
		if len(created) > 0 {
			if err := r.upload(ctx, it); err != nil {
				return err
			}
		}
	}
	if again, err = r.recordDuplicates(ctx, again); err != nil {
		return err
	}
	for _, it := range again {
		if err := r.record(it.failed(copyFailed())); err != nil {
			return err
		}
	}
	return nil
}

func copyFailed() error {
	return fault.Hinted(fault.Of(&fault.UploadError{}, "it is a copy of a file that failed"), "run again")
}

// hashCandidates computes the checksums of all candidates.
func (r *run) hashCandidates(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, it := range r.duplicateCandidates {
		group.Go(func() error {
			it.md5s = make([]string, len(it.Members))
			for i, m := range it.Members {
				sum, err := md5Of(ctx, r.options.Source.Tree, m.Path)
				if ctx.Err() != nil {
					return fault.Stopped(ctx)
				}
				if err != nil {
					it.md5s = nil // its upload will report the error
					return nil
				}
				it.md5s[i] = sum
			}
			return nil
		})
	}
	return group.Wait()
}

// recordDuplicates records the copies of files that were sent, are on the platform, or failed. It
// returns the other candidates.
func (r *run) recordDuplicates(ctx context.Context, candidates []*item) (left []*item, _ error) {
	if len(candidates) == 0 {
		return nil, nil
	}
	byPrint, byKey := map[string]*original{}, map[string]*original{}
	for _, it := range candidates {
		byPrint[fingerprint(it.result())] = &original{}
		byKey[it.key] = &original{}
	}
	for o, err := range r.outcomes.All {
		if err != nil {
			return nil, err
		}
		if of := byKey[o.Key]; of != nil {
			of.failed = of.failed || o.Verdict == verdict.Failed
		}
		if o.Dataset == "" && !r.options.DryRun || o.Verdict == verdict.Failed || o.Verdict == verdict.Duplicate {
			continue
		}
		of, ok := byPrint[fingerprint(o)]
		sendable := o.Verdict == verdict.Uploaded || o.Verdict == verdict.AlreadyThere
		if !ok && r.options.DryRun && sendable { // nothing was read completely
			of = byPrint[fingerprint(r.hashed(ctx, o))]
		}
		if of != nil && of.name == "" {
			of.name, of.dataset = o.Name, o.Dataset
		}
	}
	for _, it := range candidates {
		of := byPrint[fingerprint(it.result())]
		var err error
		switch {
		case of.name != "":
			err = r.skip(it, verdict.Duplicate, of.dataset, "it has the same content as "+of.name)
		case byKey[it.key].failed:
			err = r.record(it.failed(copyFailed()))
		default:
			left = append(left, it)
		}
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

// hashed adds the checksums of its files to an outcome.
func (r *run) hashed(ctx context.Context, o Outcome) Outcome {
	it := item{Item: scan.Item{Kind: o.Kind, Name: o.Name}}
	for _, p := range o.parts() {
		sum, _ := md5Of(ctx, r.options.Source.Tree, p.Path) // "" equals no other checksum
		it.Members = append(it.Members, scan.Member{File: scan.File{Path: p.Path, Size: p.Size}, Component: p.Component})
		it.md5s = append(it.md5s, sum)
	}
	return it.result()
}

// fingerprint returns a text that is equal for outcomes of equal content.
func fingerprint(o Outcome) string {
	var b strings.Builder
	b.WriteString(o.Kind)
	if o.Kind != "image" { // like newKeyer
		b.WriteString("\x00" + path.Dir(o.Name))
	}
	for _, p := range o.parts() {
		b.WriteString("\x00" + p.Component + "\x00" + strconv.FormatInt(p.Size, 10) + "\x00" + p.MD5)
	}
	return b.String()
}
