package ledger

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"transect/client/fault"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// Key returns the key of the user's ledgers in a folder, creating it on first use. It is written atomically:
// a process may die at any moment.
func Key(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyName)
	key, err := FindKey(dir)
	if err == nil && key == nil {
		if err = makeKey(dir, path); err == nil {
			key, err = FindKey(dir)
		}
	}
	return key, err
}

// FindKey returns the key in a folder, or nil.
func FindKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyName)
	key, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fault.Of(&fault.FileError{}, "the key of the ledgers cannot be kept in %s: %w", dir, fault.Reason(err))
	case len(key) != KeySize:
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "the key of the ledgers %s is damaged", path),
			"without it unfinished runs cannot continue; remove it to start new ones")
	}
	return key, nil
}

// makeKey creates the key unless another process has done so meanwhile.
func makeKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".ledger-key-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	key := make([]byte, KeySize)
	rand.Read(key)
	_, err = file.Write(key)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Link(file.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

const keyName = "ledger.key"
