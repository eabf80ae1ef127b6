package report

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace puts data in the place of a file in one step: whoever reads it sees
// the old content or the new, never a part, also after a crash. A new file can
// be read by everybody, as a collector of metrics must.
func Replace(path string, data []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace what a link points to, not the link
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".transect-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		if err = f.Chmod(mode); errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
