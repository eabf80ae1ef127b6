package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"transect/client/fault"
)

// folder is where files are received. It is held open: a link that replaces its
// path later is not followed.
type folder struct {
	*os.Root
	path string // as it was given
}

// folder opens the folder for a file, and creates it when missing.
func (t *Transfers) folder(path, name string) (folder, error) {
	root, err := t.Folder(path, name)
	if err != nil && fault.Find(err) == nil {
		err = fileError(err, "cannot create the folder %s", path)
	}
	return folder{root, path}, err
}

func makeFolder(path, _ string) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// join is the path of a file in it, for messages.
func (f folder) join(name string) string { return filepath.Join(f.path, name) }

// sync makes a new name durable where the system supports that.
func (f folder) sync() {
	if d, err := f.Open("."); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// checkFree fails when a file must not be written.
func (f folder) checkFree(name string, overwrite bool) error {
	info, err := f.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileError(err, "cannot read %s", f.join(name))
	case info.IsDir():
		return fault.Of(&fault.FileExistsError{}, "%s is a folder", f.join(name))
	case !overwrite:
		return exists(f.join(name))
	}
	return nil
}

func exists(path string) error {
	return fault.Hinted(fault.Of(&fault.FileExistsError{}, "%s exists already", path),
		"set overwrite to replace it, or give another target_name or target_path")
}
