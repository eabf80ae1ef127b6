package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"transect/client/fault"
)

// folder is where files are received. It is held open: what comes to stand
// under its path later has no part in it.
type folder struct {
	*os.Root
	path string // as it was given
}

// folder opens the folder that is to take a file, and makes it when missing.
func (t *Transfers) folder(path, name string) (folder, error) {
	root, err := t.into(path, name)
	if err != nil && fault.Find(err) == nil {
		err = fileError(err, "cannot make the folder %s", path)
	}
	return folder{root, path}, err
}

// makeFolder is how a folder is opened where all may be written to.
func makeFolder(path, _ string) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// told is how people call a file in it.
func (f folder) told(name string) string { return filepath.Join(f.path, name) }

// sync makes a new name durable where the system can do that.
func (f folder) sync() {
	if d, err := f.Open("."); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// checkFree fails when something stands in the way of a file.
func (f folder) checkFree(name string, overwrite bool) error {
	info, err := f.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fileError(err, "cannot look at %s", f.told(name))
	case info.IsDir():
		return fault.Of(&fault.FileExistsError{}, "%s is a folder", f.told(name))
	case !overwrite:
		return exists(f.told(name))
	}
	return nil
}

func exists(path string) error {
	return fault.Hinted(fault.Of(&fault.FileExistsError{}, "%s exists already", path),
		"set overwrite to replace it, or give another target_name or target_path")
}
