package ingest

import (
	"context"
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"io"
	"os"

	"transect/client/fault"
	"transect/client/imagery"
)

// reader looks into files: it works out their keys, reads what images say of
// themselves, and decides what is to be done. One reader serves one goroutine.
type reader struct {
	*run
	buffer []byte
}

// look decides about one item. It returns false when nothing remains to be
// done with it: its outcome is told.
func (r *reader) look(ctx context.Context, w *work) (bool, error) {
	ix := r.index
	candidates, err := ix.of(identity(w.item.Kind, w.item.Name))
	if err != nil {
		return false, err
	}
	r.strays(candidates)
	size, modified, full := w.item.Size(), w.first().ModTime.UnixMilli(), ix.hash(w.item.Name)
	for i := range candidates {
		h := &candidates[i]
		// Of two cameras that fly together, the names of images, their times and, when they
		// are not compressed, their sizes are the same: only the folders tell them apart.
		if h.key != 0 && h.state&complete != 0 && h.size == size && h.modified == modified && h.full == full {
			if r.o.Check == CheckWarn {
				r.checker.AddKnown(w.item)
			}
			return false, r.there(ctx, w, h, candidates)
		}
	}
	if err := r.read(w); err != nil {
		r.checked(w, err)
		return false, r.end(w.failed(err))
	}
	r.checked(w, nil)
	h, err := r.match(ctx, w, candidates)
	switch {
	case err != nil:
		return false, r.end(w.failed(err))
	case h != nil && h.state&complete != 0:
		return false, r.there(ctx, w, h, candidates)
	case h != nil:
		w.dataset, w.outcome, w.earlier = ix.dataset(h), Resumed, ix.replaced(h, candidates)
		w.strays = r.outdated(w, r.index.runs.text(h.run), h.key, h.taken, candidates)
		return true, nil
	}
	there, from, err := r.moved(ctx, w)
	if err != nil {
		return false, r.end(w.failed(err))
	}
	if there != nil {
		return false, r.skip(w, ix.dataset(there), "brought in before, from another folder, as "+from)
	}
	w.outcome = Created
	var earlier *held
	for i := range candidates {
		if h := &candidates[i]; r.earlier(w, h) && (earlier == nil || h.state&empty == 0 || earlier.state&empty != 0) {
			earlier = h
		}
	}
	if earlier != nil {
		w.earlier = ix.dataset(earlier)
		w.remark = "changed: an earlier state of it is dataset " + w.earlier + ", which stays"
		if earlier.state&empty != 0 {
			w.remark = "changed since dataset " + w.earlier + " was made for it, which stays without a file"
		}
		w.strays = r.outdated(w, r.id, 0, earlier.taken, candidates)
	}
	return true, nil
}

// there skips an item that is there already. What it was to take the place of
// goes now, when an earlier run was stopped before that.
func (r *reader) there(ctx context.Context, w *work, h *held, candidates []held) error {
	w.dataset, w.earlier = r.index.dataset(h), r.index.replaced(h, candidates)
	w.strays = r.outdated(w, r.index.runs.text(h.run), h.key, h.taken, candidates)
	if err := r.replace(ctx, w); err != nil {
		return r.unreplaced(ctx, w, err)
	}
	return r.skip(w, w.dataset, w.remark)
}

// read works out the key, and reads the photo of an image.
func (r *reader) read(w *work) error {
	k := newKeyer(w.item)
	for i, m := range w.item.Members {
		f, err := r.o.Source.Open.Open(m.Path)
		if err != nil {
			return unreadable(m.Path, err)
		}
		err = k.file(m.Component, f, m.Size, r.buffer)
		if err != nil {
			err = unreadable(m.Path, err)
		} else if i == 0 && w.item.Kind == "image" {
			err = r.photo(w, f)
		}
		_ = f.Close() // only read from
		if err != nil {
			return err
		}
	}
	w.key = k.sum()
	return nil
}

// photo reads what an image says of itself. One of a kind that is not read is
// sent without.
func (r *reader) photo(w *work, f *os.File) error {
	photo, err := imagery.ReadFrom(f, w.first().Size)
	photo.Path = w.first().Path
	if err == nil || imagery.CauseOf(err) != imagery.Unsupported {
		w.photo = &photo
	}
	if err == nil || imagery.CauseOf(err) == imagery.Unsupported || r.o.Check == CheckOff {
		return nil
	}
	return err
}

// match finds the dataset that was made for this very file, or nil.
func (r *reader) match(ctx context.Context, w *work, candidates []held) (*held, error) {
	size, modified := w.item.Size(), w.first().ModTime.UnixMilli()
	sum := "" // of the file, once it was needed
	differs := func(h *held) (bool, error) {
		if sum == "" {
			var err error
			if sum, err = md5Of(ctx, r.o.Source.Open, w.first().Path); err != nil {
				return false, err
			}
		}
		return short(sum) != h.sum, nil
	}
	edited := false
	var begun *held
	for i := range candidates {
		h := &candidates[i]
		if h.key == 0 {
			same, err := r.foreign(w, h, size, differs)
			if err != nil || same {
				return h, err
			}
			continue
		}
		if h.key != short(w.key) {
			continue
		}
		if h.state&complete == 0 {
			if begun == nil {
				begun = h
			}
			continue
		}
		if h.modified == modified || h.sum == 0 {
			return h, nil
		}
		other, err := differs(h)
		if err != nil || !other {
			return h, err
		}
		edited = true
	}
	if !edited {
		return begun, nil
	}
	// An edit the samples do not show: the checksum sets its key apart.
	k := newKeyer(w.item)
	k.write(w.key)
	k.write(sum)
	w.key = k.sum()
	for i := range candidates {
		if h := &candidates[i]; h.key == short(w.key) {
			return h, nil
		}
	}
	return nil, nil
}

// foreign tells whether a dataset that was made by other means has the file. Of
// images the moment says so, as a name comes back with every memory card; of
// others the checksum.
func (r *reader) foreign(w *work, h *held, size int64, differs func(*held) (bool, error)) (bool, error) {
	there := h.state&complete != 0
	if w.item.Kind == "image" && h.taken != 0 {
		return w.photo != nil && h.taken == w.photo.Acquired.UnixMilli() && (!there || h.size == 0 || h.size == size), nil
	}
	if !there || h.sum == 0 || h.size != size {
		return false, nil
	}
	other, err := differs(h)
	return !other, err
}

// earlier tells whether a dataset holds an earlier state of the file: of
// images the same moment says so, of others the name.
func (r *reader) earlier(w *work, h *held) bool {
	if w.item.Kind == "image" {
		return h.taken != 0 && w.photo != nil && h.taken == w.photo.Acquired.UnixMilli()
	}
	return true
}

// md5Of reads a whole file for its checksum.
func md5Of(ctx context.Context, open imagery.Opener, path string) (string, error) {
	f, err := open.Open(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	defer f.Close() // only read from
	h := md5.New()
	buffer := make([]byte, 256<<10)
	for ctx.Err() == nil {
		n, err := f.Read(buffer)
		h.Write(buffer[:n]) // never fails
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", unreadable(path, err)
		}
	}
	return "", fault.Stopped(ctx)
}
