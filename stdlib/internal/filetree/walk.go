// Package filetree walks, watches and copies folders within the sandbox of a run. The Lua module fs uses it.
// Start reading at Walk; Watch and Copier build on it.
package filetree

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"transect/client/fault"
	"transect/runtime/sandbox"
)

// Walker visits a tree depth first, one entry at a time, in bounded memory.
type Walker struct {
	SkipUnreadable bool // ignore unreadable folders below the root

	disk  *sandbox.Sandbox
	root  string
	stack []Entry
	depth int
	want  func(Entry) bool
}

// Entry is a file or folder in the tree.
type Entry struct {
	Rel string // path from the root
	fs.DirEntry
	depth int
}

// Unlimited is the depth of an unlimited walk.
const Unlimited = 1 << 20

// Walk starts at a folder and descends depth levels; 1 visits only the folder itself.
func Walk(root string, depth int, disk *sandbox.Sandbox, want func(Entry) bool) *Walker {
	return &Walker{disk: disk, root: root, depth: depth, want: want, stack: []Entry{{Rel: "."}}}
}

// Next returns the next wanted entry; ok is false at the end. After an error it continues after the folder
// that could not be read. Links to folders are not followed.
func (w *Walker) Next(ctx context.Context) (p Entry, info fs.FileInfo, ok bool, err error) {
	for len(w.stack) > 0 {
		if err := ctx.Err(); err != nil {
			return p, nil, false, err
		}
		p := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if p.DirEntry == nil || p.DirEntry.IsDir() && p.depth < w.depth {
			entries, err := w.disk.ReadDir(filepath.Join(w.root, p.Rel))
			var denied *fault.PermissionError
			skipped := errors.Is(err, fs.ErrNotExist) || errors.As(err, &denied) ||
				w.SkipUnreadable && errors.Is(err, fs.ErrPermission)
			if err != nil && (p.DirEntry == nil || !skipped) {
				return p, nil, false, err
			}
			slices.Reverse(entries) // the stack pops the last one first
			for _, e := range entries {
				w.stack = append(w.stack, Entry{filepath.Join(p.Rel, e.Name()), e, p.depth + 1})
			}
		}
		if p.DirEntry == nil || !w.want(p) {
			continue
		}
		info, err := w.disk.Stat(filepath.Join(w.root, p.Rel))
		if errors.Is(err, fs.ErrNotExist) {
			info, err = p.DirEntry.Info() // a dangling link
		}
		var denied *fault.PermissionError
		switch toFolder := err == nil && info.IsDir() && !p.DirEntry.IsDir(); {
		case toFolder, errors.Is(err, fs.ErrNotExist), errors.As(err, &denied):
			continue // a link to a folder or to a forbidden path, or removed meanwhile
		}
		return p, info, err == nil, err
	}
	return p, nil, false, nil
}
