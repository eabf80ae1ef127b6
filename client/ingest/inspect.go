package ingest

import (
	"cmp"
	"context"
	"crypto/md5" // the protocol's checksum, not a protection
	"io"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/checksum"
	"transect/client/fault"
	"transect/client/files"
	"transect/client/formats"
	"transect/client/formats/imagery"
	"transect/client/internal/reconcile"
	"transect/client/verdict"
)

// inspect decides what to do with an item. Files that are already uploaded, or cannot be read, end
// here; for the others a dataset is created next.
func (r *run) inspect(ctx context.Context, it *item, to chan<- sequencedItem) error {
	// A file that must be read completely does not delay those after it.
	next, err := r.inspected(ctx, it, func() error { return put(ctx, to, sequencedItem{it.order, nil}) })
	if err != nil {
		return err
	}
	return put(ctx, to, sequencedItem{it.order, next})
}

// inspected returns the item if its dataset must be created or completed, else nil. It calls slow
// before reading whole files.
func (r *run) inspected(ctx context.Context, it *item, slow func() error) (*item, error) {
	datasets, err := r.index.byName(it.Kind, it.Name)
	if err != nil {
		return nil, err
	}
	r.addOrphans(reconcile.Orphans(datasets))
	decision, found, err := r.decide(ctx, it, datasets, slow)
	if ctx.Err() != nil {
		return nil, fault.Stopped(ctx)
	}
	if err != nil {
		return nil, r.record(it.failed(err))
	}
	it.dataset, it.remark = decision.Dataset, decision.Reason
	it.replaces, it.superseded = decision.Replaces, decision.Superseded
	if it.replaces != "" && !r.options.Replace {
		it.remark += "; transect rm " + it.replaces + " deletes it"
	}
	if it.resumed = decision.Action == reconcile.Resume; it.resumed {
		it.unsent = r.unsent(it, found)
		it.foreign = r.foreign(found.Run)
	}
	switch {
	case decision.Action == reconcile.Skip:
		// A run that was stopped may have left the previous version behind.
		if err := r.deletePrevious(ctx, it); err != nil {
			return nil, r.notReplaced(ctx, it, err)
		}
		r.setVerdict(it, decision, found)
		return nil, r.record(it.result())
	case it.problem != nil:
		it.verdict, it.remark, it.hint = it.problem.Verdict, it.problem.Cause, it.problem.Hint
		if r.options.Damaged != Send {
			return nil, r.record(it.result())
		}
	default:
		it.verdict = verdict.Uploaded
	}
	it.title = it.Name
	if r.options.Name != nil {
		r.callback.Lock()
		it.title, err = r.options.Name(it.main().File)
		r.callback.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return it, nil
}

// setVerdict sets the verdict of an item on the platform: the problem recorded with its dataset, or that
// it was uploaded before.
func (r *run) setVerdict(it *item, decision reconcile.Decision, found reconcile.Dataset) {
	renamed := found.Key != "" && found.Name != it.Name
	switch {
	case it.problem != nil:
		it.verdict, it.remark, it.hint = it.problem.Verdict, it.problem.Cause, it.problem.Hint
	case found.Verdict != "":
		it.verdict, it.remark, it.hint = found.Verdict, found.Cause, found.Hint
	case renamed && !decision.Relocated && r.inSource(it, found.Name):
		it.verdict, it.remark = verdict.Duplicate, "it has the same content as "+found.Name
	default:
		it.verdict, it.pending = verdict.AlreadyThere, found.Pending
		if decision.Same {
			it.remark = "already uploaded as " + found.Name
		}
	}
}

// decide calls reconcile.Decide until it has the information it needs. datasets have the item's
// name; found is the dataset of the decision.
func (r *run) decide(ctx context.Context, it *item, datasets []reconcile.Dataset,
	slow func() error) (_ reconcile.Decision, found reconcile.Dataset, _ error) {
	state := reconcile.State{Replace: r.options.Replace, Datasets: datasets}
	state.File = reconcile.File{Kind: it.Kind, Name: it.Name, Size: it.Size(), Modified: it.main().ModTime.UnixMilli(),
		Run: r.id}
	for _, m := range it.Members {
		state.Components = append(state.Components, reconcile.Component{Name: m.Component, Size: m.Size})
	}
	for {
		var err error
		decision := reconcile.Decide(state)
		switch decision.Action {
		case reconcile.Sample:
			err = r.sample(it)
			if r.options.Check == CheckWarn {
				if failed := r.checkItem(ctx, it, cmp.Or(err, it.photoError), slow); err == nil {
					err = failed
				}
			}
			state.Key, state.Content = it.key, it.content
			if it.photo != nil && !it.photo.Acquired.IsZero() {
				state.Taken = it.photo.Acquired.Unix() * 1000
			}
		case reconcile.Hash:
			if err = slow(); err == nil {
				err = r.hash(ctx, it, &state.File)
			}
		case reconcile.FindRelocated:
			state.Relocated, err = r.findRelocated(it)
		case reconcile.FindSame:
			if state.Same, err = r.index.same(it.content); state.Same == nil {
				state.Same = []reconcile.Dataset{}
			}
		default:
			if decision.Relocated && !r.claim(decision.Dataset) {
				state.Relocated, err = r.findRelocated(it)
				break
			}
			switch known := state.Key == "" && r.options.Check == CheckWarn; {
			case known && r.options.Deep:
				if err := r.checkItem(ctx, it, nil, slow); err != nil {
					return decision, found, err
				}
			case known:
				r.checker.AddKnown(it.Item)
			}
			it.key = decision.Key
			for _, d := range slices.Concat(state.Datasets, state.Relocated, state.Same) {
				if d.ID == decision.Dataset {
					return decision, d, nil
				}
			}
			return decision, found, nil
		}
		if err != nil {
			return decision, found, err
		}
	}
}

// largeItem is the size in bytes from which decoding takes long.
const largeItem = 64 << 20

// checkItem records an item's problems; unread is why it could not be read.
func (r *run) checkItem(ctx context.Context, it *item, unread error, slow func() error) error {
	if r.options.Deep && it.Size() > largeItem {
		if err := slow(); err != nil {
			return err
		}
	}
	if p := r.addToCheck(ctx, it, unread); p != nil {
		it.problem = &problem{p.Verdict, p.Message, p.Hint}
	}
	return nil
}

// sample computes the content key and reads an image's metadata.
func (r *run) sample(it *item) error {
	k := newKeyer(it.Item)
	s := sampleBuffers.Get().(*samples)
	defer sampleBuffers.Put(s)
	for i, m := range it.Members {
		f, err := r.options.Source.Tree.Open(m.Path)
		if err != nil {
			return unreadable(m.Path, err)
		}
		if err = s.read(f, m.Size); err != nil {
			err = unreadable(m.Path, err)
		} else if k.file(m.Component, s); i == 0 && it.Kind == "image" {
			r.readPhoto(it, s)
		} else if i == 0 && it.Projection != "" {
			r.readProjection(it, f)
		}
		_ = f.Close() // only read from
		if err != nil {
			return err
		}
	}
	it.key = k.sum()
	if r.options.Duplicates != Send && !it.Sidecar { // sidecars are often alike
		it.content = k.sumOfContent()
	}
	return nil
}

// readPhoto reads the metadata of an image. Unknown formats are sent without.
func (r *run) readPhoto(it *item, f io.ReaderAt) {
	photo, err := imagery.ReadFrom(f, it.main().Size)
	photo.Path = it.main().Path
	unsupported := imagery.CauseOf(err) == imagery.Unsupported
	if err == nil || !unsupported {
		it.photo = &photo
	}
	if !unsupported {
		it.photoError = err
	}
}

// readProjection reads the reference system of a point cloud that does not name it. An unreadable
// projection file is sent as an item of its own, which reports the error.
func (r *run) readProjection(it *item, cloud io.ReaderAt) {
	f, err := r.options.Source.Tree.Open(it.Projection)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		main := formats.File{Name: it.main().Name, Data: cloud, Size: it.main().Size}
		sidecar := formats.File{Name: it.Projection, Data: f, Size: info.Size()}
		it.projection = formats.ProjectionBeside(context.Background(), main, sidecar)
	}
}

// hash computes the checksums of all files of an item.
func (r *run) hash(ctx context.Context, it *item, f *reconcile.File) error {
	for i, m := range it.Members {
		sum, err := md5Of(ctx, r.options.Source.Tree, m.Path)
		if err != nil {
			return err
		}
		f.Components[i].MD5 = sum
	}
	k := newKeyer(it.Item)
	k.write(it.key)
	k.write(f.Components[0].MD5)
	f.EditedKey = k.sum()
	return nil
}

// findRelocated returns the datasets that may hold an item under another path, unless the source
// has that path, too: then the platform should have both files.
func (r *run) findRelocated(it *item) ([]reconcile.Dataset, error) {
	list, err := r.index.relocated(it.Kind, it.Name, it.Size())
	found := []reconcile.Dataset{}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range list {
		if !r.inSource(it, d.Name) && !r.relocated[d.ID] {
			found = append(found, d)
		}
	}
	return found, err
}

// inSource reports whether the source has another file than the item's under a name.
func (r *run) inSource(it *item, name string) bool {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	if r.options.Source.Root == "" {
		return slices.ContainsFunc(r.options.Source.Paths, func(path string) bool {
			info, err := r.options.Source.Tree.Stat(path)
			if err != nil || !info.IsDir() {
				return err == nil && path != it.main().Path && strings.HasSuffix(filepath.ToSlash(path), "/"+name)
			}
			if len(r.options.Source.Paths) > 1 && strings.HasPrefix(name, filepath.Base(path)+"/") {
				path = filepath.Dir(path) // names begin with the folder's name
			}
			_, err = r.options.Source.Tree.Lstat(filepath.Join(path, filepath.FromSlash(name)))
			return err == nil
		})
	}
	_, err := r.options.Source.Tree.Lstat(filepath.Join(r.options.Source.Root, filepath.FromSlash(name)))
	return err == nil
}

// claim reserves a dataset for one relocated file; it returns false when another file has it.
func (r *run) claim(dataset string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.relocated[dataset] {
		return false
	}
	r.relocated[dataset] = true
	return true
}

// md5Of returns the checksum of a whole file.
func md5Of(ctx context.Context, tree files.Tree, path string) (string, error) {
	h := md5.New()
	err := imagery.Hash(ctx, tree, path, h)
	switch {
	case err == nil:
		return checksum.Hex(h), nil
	case ctx.Err() != nil:
		return "", fault.Stopped(ctx)
	}
	return "", unreadable(path, err)
}
