package stdlib

import (
	"errors"
	"io/fs"
	"path/filepath"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// disk is the files of a script, where it may reach them.
type disk struct{ *vm.Interp }

func (d disk) MayWrite(path string) error { return d.Permit(sandbox.Write, path) }

func (d disk) Canonical(path string) string { return sandbox.Canonical(path) }

// Create starts a file that takes its place when it is whole. What a link
// points to is replaced, not the link.
func (d disk) Create(path string) (*atomicfile.File, error) {
	folder, name, err := d.Folder(sandbox.Canonical(path))
	if err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(folder, name, 0o644)
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		p.Path = path
	}
	return f, err
}

// within is a folder as packages see it that read trees: of what lies behind
// walls there is nothing.
type within struct {
	in     *vm.Interp
	folder string
}

func (w within) Open(name string) (fs.File, error) {
	f, err := w.in.OpenToRead(filepath.Join(w.folder, filepath.FromSlash(name)))
	return f, hidden(err)
}

func (w within) Stat(name string) (fs.FileInfo, error) {
	info, err := w.in.Stat(filepath.Join(w.folder, filepath.FromSlash(name)))
	return info, hidden(err)
}

func (w within) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := w.in.ReadDir(filepath.Join(w.folder, filepath.FromSlash(name)))
	return entries, hidden(err)
}

func hidden(err error) error {
	if outside := (*fault.PermissionError)(nil); errors.As(err, &outside) {
		return fs.ErrNotExist
	}
	return err
}

// writeAtomic writes a text in one step.
func writeAtomic(in *vm.Interp, path, text string) error {
	f, err := disk{in}.Create(path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Commit()
}
