package scan

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/formats"
)

// walk is one scan of a source.
type walk struct {
	ctx     context.Context
	source  Source
	yield   func(Item, error) bool
	filter  filter
	origins []*origin
	entered map[string]bool   // real paths of folders read, when links are followed
	claimed map[string]string // components of files that a mesh uses, by path
	yielded map[string]bool   // paths of the files yielded so far, of the current folder and its subfolders
}

// errStopped ends a scan when the consumer stops.
var errStopped = errors.New("the consumer has enough")

func (w *walk) run() (err error) {
	if w.filter, err = newFilter(w.source); err != nil {
		return err
	}
	if w.origins, err = newOrigins(w.source); err != nil {
		return err
	}
	for i := range w.origins {
		if err := w.readFolder(i, ""); err != nil {
			return err
		}
	}
	return nil
}

// emit yields an item to the consumer.
func (w *walk) emit(item Item) error {
	for _, m := range item.Members {
		w.yielded[m.Path] = true
	}
	if !w.yield(item, nil) {
		return errStopped
	}
	return nil
}

// skip yields a file that is left out.
func (w *walk) skip(s *Skipped) error {
	w.yielded[s.Path] = true
	if !w.yield(Item{}, s) {
		return errStopped
	}
	return nil
}

// readFolder yields the items of the folder rel of an origin, then of its subfolders.
func (w *walk) readFolder(number int, rel string) error {
	o := w.origins[number]
	dir := &directory{w: w, origin: o, number: number, dir: filepath.Join(o.dir, filepath.FromSlash(rel)), rel: rel}
	name := path.Join(o.prefix, rel)
	if w.source.FollowLinks && o.listed == nil {
		real, err := filepath.EvalSymlinks(dir.dir)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err == nil {
			if w.entered[real] && rel != "" {
				return w.skip(&Skipped{Path: dir.dir, Name: name, Reason: Repeated, Folder: true})
			}
			w.entered[real] = true
		}
	}
	var err error
	dir.listing, err = list(w.source.Tree, dir.dir)
	switch {
	case err == nil, o.listed != nil && errors.Is(err, fs.ErrNotExist): // each listed file is then missing
	case rel == "":
		return fault.Hinted(fault.Of(&fault.FileError{}, "the folder %s cannot be read: %w", dir.dir, fault.Reason(err)),
			"check its permissions")
	default:
		if err := w.skip(&Skipped{Path: dir.dir, Name: name, Reason: Unreadable, Err: err, Folder: true}); err != nil {
			return err
		}
	}
	below, err := w.readFiles(dir)
	if err != nil {
		return err
	}
	dir = nil // keep only the names of subfolders while reading them
	for _, sub := range below {
		if err := w.readFolder(number, path.Join(rel, sub)); err != nil {
			return err
		}
	}
	return nil
}

// readFiles yields the items of one folder and returns the names of its subfolders.
func (w *walk) readFiles(d *directory) (below []string, err error) {
	if err := w.reportMissing(d); err != nil {
		return nil, err
	}
	d.claimTextures()
	for i := range d.len() {
		if w.ctx.Err() != nil {
			return nil, fault.Stopped(w.ctx)
		}
		name := d.name(i)
		requested := d.requested(name)
		if !requested && d.origin.listed != nil {
			continue
		}
		reason, bad := unwanted(name)
		kind := d.entry(i)
		if kind == folder {
			requested = d.origin.enters(path.Join(d.rel, name))
		}
		skip := func(reason Reason) error {
			return w.skip(&Skipped{Path: d.path(name), Name: d.fullName(name), Reason: reason, Folder: kind == folder})
		}
		switch {
		case !requested || w.covered(d, name, kind == folder):
		case bad && d.origin.listed == nil:
			err = skip(reason)
		case kind == folder && w.filter.prunes(d.fullName(name)):
			err = skip(Filtered)
		case kind == folder:
			below = append(below, strings.Clone(name)) // cloned so that the listing can be freed
		default:
			err = w.readFile(d, i, kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return below, w.account(d)
}

// account fails if any file of a folder was not yielded.
func (w *walk) account(d *directory) error {
	for i := range d.len() {
		path := d.path(d.name(i))
		if d.entry(i) == folder || !d.requested(d.name(i)) {
			continue
		}
		if !w.yielded[path] && !w.covered(d, d.name(i), false) {
			return fault.Hinted(fault.Of(&fault.RuntimeError{}, "internal error: the file %s is not in its folder's list", path),
				"run it again, and report this with the names of the files in that folder")
		}
		delete(w.yielded, path)
	}
	return nil
}

// covered reports whether an earlier origin yields a file, or all of a folder.
func (w *walk) covered(d *directory, name string, folder bool) bool {
	return slices.ContainsFunc(w.origins[:d.number], func(o *origin) bool {
		return (!folder || o.listed == nil && o.pattern == "") && o.covers(d.path(name))
	})
}

// reportMissing yields the listed files that do not exist.
func (w *walk) reportMissing(d *directory) error {
	for _, base := range slices.Sorted(maps.Keys(d.origin.listed)) {
		if d.find(base) >= 0 {
			continue
		}
		if _, err := w.source.Tree.Lstat(d.path(base)); err != nil { // a listing may use another spelling
			s := &Skipped{Path: d.path(base), Name: d.fullName(base), Reason: Missing, Err: err}
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

// readFile yields the item whose main file is entry i, if there is one.
func (w *walk) readFile(d *directory, i int, kind entryType) error {
	name := d.name(i)
	skip := func(reason Reason, err error) error {
		return w.skip(&Skipped{Path: d.path(name), Name: d.fullName(name), Reason: reason, Err: err})
	}
	passes := w.filter.passes(d.fullName(name))
	switch {
	case kind == regular: // it may be part of an item that passes
	case !passes:
		return skip(Filtered, nil)
	case kind == link:
		return skip(Link, nil)
	default:
		return skip(NotRegular, nil)
	}
	info, err := w.source.Tree.Stat(d.path(name))
	switch {
	case (err != nil || info.Size() == 0) && !passes:
		return skip(Filtered, nil)
	case err != nil && d.kind(i) == link:
		return skip(BrokenLink, err)
	case err != nil:
		return skip(Unreadable, err)
	case info.Size() == 0 && formats.IsLog(name):
		return skip(EmptyLog, nil)
	case info.Size() == 0:
		return skip(Empty, nil)
	}
	component := d.belongs(i)
	switch {
	case component != "" && component != formats.NotSent:
		return nil // it is sent with its main file
	case !passes || w.wrongSize(info) || !w.recent(d, i, info):
		return skip(Filtered, nil)
	case component == formats.NotSent:
		return w.emit(Item{Kind: "file", Name: d.fullName(name), Sidecar: true,
			Members: []Member{{fileOf(d.path(name), d.fullName(name), info), "file"}}})
	}
	c := d.classify(i)
	if c.err != nil {
		return skip(Unreadable, c.err)
	}
	item := d.item(i, info, c)
	if item.Note == "" && item.Kind == "file" && w.source.Kind != "file" && formats.NeedsMain(name) {
		item.Note = "the file it belongs to is not there, so it is sent alone"
	}
	return w.emit(item)
}

func (w *walk) wrongSize(info fs.FileInfo) bool {
	return info.Size() < w.source.MinSize || w.source.MaxSize > 0 && info.Size() > w.source.MaxSize
}

// recent reports whether the file, or one of its sidecar files, is new enough.
func (w *walk) recent(d *directory, i int, info fs.FileInfo) bool {
	limit := w.source.NewerThan
	if limit.IsZero() || info.ModTime().After(limit) {
		return true
	}
	return slices.ContainsFunc(d.siblings(i), func(j int) bool {
		other, err := w.source.Tree.Stat(d.path(d.name(j)))
		return err == nil && other.ModTime().After(limit)
	})
}

func fileOf(path, name string, info fs.FileInfo) File {
	return File{Path: path, Name: name, Size: info.Size(), ModTime: info.ModTime().Round(0)}
}
