package scan

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"transect/client/fault"
)

// walk is one reading of a source.
type walk struct {
	ctx     context.Context
	source  Source
	yield   func(Item, error) bool
	filter  filter
	all     []*origin
	entered map[string]string // real paths of folders read, when links are followed
	claimed map[string]bool   // paths of files that a mesh uses
	stopped bool              // the consumer has enough
}

var errStopped = errors.New("the consumer has enough")

func (w *walk) run() (err error) {
	if w.filter, err = newFilter(w.source); err != nil {
		return err
	}
	if w.all, err = w.origins(); err != nil {
		return err
	}
	for i := range w.all {
		if err := w.read(i, "", 0); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) emit(item Item) error {
	if !w.yield(item, nil) {
		w.stopped = true
		return errStopped
	}
	return nil
}

func (w *walk) skip(s *Skipped) error {
	if !w.yield(Item{}, s) {
		w.stopped = true
		return errStopped
	}
	return nil
}

// interrupted is the fatal error once the context has ended.
func (w *walk) interrupted() error {
	if w.ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(w.ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		return fault.Of(&fault.TimeoutError{}, "gathering the files took too long: %w", cause)
	}
	return fault.Of(&fault.CancelledError{}, "gathering the files was stopped: %w", cause)
}

// read gives the items of the folder rel of an origin, then those below it.
func (w *walk) read(number int, rel string, depth int) error {
	o := w.all[number]
	dir := filepath.Join(o.dir, filepath.FromSlash(rel))
	name := path.Join(o.label, rel)
	if w.source.FollowLinks && o.listed == nil {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			if real, err = filepath.Abs(real); err == nil {
				if _, again := w.entered[real]; again && rel != "" {
					return w.skip(&Skipped{Path: dir, Name: name, Reason: Repeated, Folder: true})
				}
				w.entered[real] = name
			}
		}
	}
	names, err := list(w.source.Open, dir)
	switch {
	case err != nil && o.listed != nil && errors.Is(err, fs.ErrNotExist):
		// Each of its files is told as missing.
	case err != nil && rel == "":
		return fault.Hinted(fault.Of(&fault.FileError{}, "the folder %s cannot be read: %w", dir, fault.Reason(err)), "check its permissions")
	case err != nil:
		if err := w.skip(&Skipped{Path: dir, Name: name, Reason: Unreadable, Err: err, Folder: true}); err != nil {
			return err
		}
	}
	below, err := w.files(&here{w: w, origin: o, number: number, dir: dir, rel: rel, listing: names})
	if err != nil {
		return err
	}
	names = nil // so that only names of folders are kept while reading below
	for _, sub := range below {
		if err := w.read(number, path.Join(rel, sub), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// files gives the items of one folder and returns the names of those below.
func (w *walk) files(h *here) (below []string, err error) {
	if err := w.missing(h); err != nil {
		return nil, err
	}
	h.claim()
	for i := range h.len() {
		if err := w.interrupted(); err != nil {
			return nil, err
		}
		name := h.name(i)
		if !h.given(name) && h.origin.listed != nil {
			continue
		}
		reason, bad := unwanted(name)
		switch kind := h.entry(i); {
		case bad && h.origin.listed == nil:
			if h.given(name) || kind == folder {
				err = w.skip(&Skipped{Path: h.path(name), Name: h.full(name), Reason: reason, Folder: kind == folder})
			}
		case kind == folder:
			if sub := path.Join(h.rel, name); h.origin.enters(sub) && !w.filter.prunes(h.full(name)) && !w.reads(h.number, h.path(name)) {
				below = append(below, string([]byte(name))) // not a part of the listing, which is let go
			}
		case !h.given(name) || !w.filter.passes(h.full(name)) || w.earlier(h.number, h.path(name)):
		default:
			err = w.file(h, i, kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return below, nil
}

// reads tells whether an earlier origin is that folder, or holds it.
func (w *walk) reads(number int, dir string) bool {
	for _, o := range w.all[:number] {
		if o.listed == nil && o.pattern == "" && o.covers(dir) {
			return true
		}
	}
	return false
}

// earlier tells whether an earlier origin gave the file.
func (w *walk) earlier(number int, file string) bool {
	for _, o := range w.all[:number] {
		if o.covers(file) {
			return true
		}
	}
	return false
}

// missing tells listed files that are not there.
func (w *walk) missing(h *here) error {
	if h.origin.listed == nil {
		return nil
	}
	for _, base := range sortedKeys(h.origin.listed) {
		if _, err := os.Lstat(h.path(base)); err != nil {
			s := &Skipped{Path: h.path(base), Name: h.full(base), Reason: Missing, Err: err}
			if !errors.Is(err, fs.ErrNotExist) {
				s.Reason = Unreadable
			}
			if err := w.skip(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// file gives the item whose main file is entry i, if it is one.
func (w *walk) file(h *here, i int, kind entryType) error {
	name := h.name(i)
	if w.claimed[h.path(name)] && w.source.Kind != "file" {
		return nil
	}
	skipped := &Skipped{Path: h.path(name), Name: h.full(name)}
	switch kind {
	case link:
		skipped.Reason = Link
		return w.skip(skipped)
	case special:
		skipped.Reason = NotRegular
		return w.skip(skipped)
	}
	info, err := os.Stat(h.path(name))
	switch {
	case err != nil:
		skipped.Reason, skipped.Err = Unreadable, err
		if h.kind(i) == link {
			skipped.Reason = BrokenLink
		}
		return w.skip(skipped)
	case info.Size() == 0:
		skipped.Reason = Empty
		return w.skip(skipped)
	case info.Size() < w.source.MinSize, w.source.MaxSize > 0 && info.Size() > w.source.MaxSize:
		return nil
	case !w.recent(h, i, info):
		return nil
	}
	note := ""
	if w.source.Kind != "file" {
		if stem, may := sidecarStem(name); may {
			if h.owner(i, stem) {
				return nil
			}
			_, ext := cutExtension(name)
			if accompanies["."+lowerASCII(ext)] {
				note = "the file it belongs to is not there, so it is sent alone"
			}
		}
	}
	d := h.decide(i)
	if d.err != nil {
		skipped.Reason, skipped.Err = Unreadable, d.err
		return w.skip(skipped)
	}
	item := h.item(i, info, d)
	if item.Note == "" && item.Kind == "file" {
		item.Note = note
	}
	return w.emit(item)
}

// recent tells whether the file, or one that accompanies it, is new enough.
func (w *walk) recent(h *here, i int, info fs.FileInfo) bool {
	limit := w.source.NewerThan
	if limit.IsZero() || info.ModTime().After(limit) {
		return true
	}
	for _, j := range h.company(i) {
		if other, err := os.Stat(h.path(h.name(j))); err == nil && other.ModTime().After(limit) {
			return true
		}
	}
	return false
}

func fileOf(path, name string, info fs.FileInfo) File {
	return File{Path: path, Name: name, Size: info.Size(), ModTime: info.ModTime().Round(0)}
}
