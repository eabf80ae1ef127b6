// Package filetree walks, watches and copies folders.
package filetree

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"transect/client/fault"
)

// Walker goes through a tree one entry at a time, folder by folder, so that
// the largest takes little memory.
type Walker struct {
	disk  Folders
	root  string
	stack []Place
	depth int
	want  func(Place) bool
}

// Place is something in the tree.
type Place struct {
	Rel   string // path from the root
	Entry fs.DirEntry
	depth int
}

// Deep is a depth without end.
const Deep = 1 << 20

// Folders is where the tree is. What may not be read is a PermissionError.
type Folders interface {
	Stat(path string) (fs.FileInfo, error)
	ReadDir(path string) ([]fs.DirEntry, error)
}

// Walk begins at a folder and goes so many levels deep, 1 being the folder
// alone.
func Walk(root string, depth int, disk Folders, want func(Place) bool) *Walker {
	return &Walker{disk: disk, root: root, depth: depth, want: want, stack: []Place{{Rel: "."}}}
}

// Next finds the next wanted entry; ok is false at the end. After an error it
// goes on behind the folder that could not be read. Links to folders are not
// followed.
func (w *Walker) Next(ctx context.Context) (p Place, info fs.FileInfo, ok bool, err error) {
	for len(w.stack) > 0 {
		if err := ctx.Err(); err != nil {
			return p, nil, false, err
		}
		p := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if p.Entry == nil || p.Entry.IsDir() && p.depth < w.depth {
			entries, err := w.disk.ReadDir(filepath.Join(w.root, p.Rel))
			var outside *fault.PermissionError
			if err != nil && (p.Entry == nil || !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &outside)) {
				return p, nil, false, err
			}
			slices.Reverse(entries) // the first is taken off last
			for _, e := range entries {
				w.stack = append(w.stack, Place{filepath.Join(p.Rel, e.Name()), e, p.depth + 1})
			}
		}
		if p.Entry == nil || !w.want(p) {
			continue
		}
		info, err := w.disk.Stat(filepath.Join(w.root, p.Rel))
		if errors.Is(err, fs.ErrNotExist) {
			info, err = p.Entry.Info() // a link to nothing
		}
		var outside *fault.PermissionError
		switch linked := err == nil && info.IsDir() && !p.Entry.IsDir(); {
		case linked, errors.Is(err, fs.ErrNotExist), errors.As(err, &outside):
			continue // a link to a folder, or out of those allowed; or gone meanwhile
		}
		return p, info, err == nil, err
	}
	return p, nil, false, nil
}
