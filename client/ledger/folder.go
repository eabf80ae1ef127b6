package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Folder returns the folder of files kept as long as a run. It need not exist.
func Folder(dir, run string) string { return filepath.Join(dir, run+".files") }

// Remove removes the ledger of a run and its folder, unless it is in progress.
func Remove(dir, run string) error {
	return unlocked(dir, run, func(path string) error {
		return errors.Join(os.Remove(path), os.RemoveAll(Folder(dir, run)))
	})
}

// SetAside renames the ledger of a run, so that a new run can begin under its ID.
func SetAside(dir, run, name string) error {
	return unlocked(dir, run, func(path string) error {
		err := os.Rename(Folder(dir, run), Folder(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return errors.Join(err, os.Rename(path, filepath.Join(dir, name+Suffix)))
	})
}

// unlocked calls f with the ledger of a run that is not in progress.
func unlocked(dir, run string, f func(path string) error) error {
	path := filepath.Join(dir, run+Suffix)
	if _, err := os.Stat(path); err != nil {
		return err
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	defer lock.Close()
	if ok, err := lock.TryLock(); err != nil || !ok {
		return inProgress(dir, run)
	}
	return f(path)
}
