package runtime

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"transect/client/fault"
)

// ledgerKey is the key of the fingerprints in a folder, made at the first use. It
// appears whole: a process may die at any moment.
func ledgerKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, "ledger.key")
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(dir, path); err == nil {
			key, err = os.ReadFile(path)
		}
	}
	switch {
	case err != nil:
		return nil, fault.Of(&fault.FileError{}, "the key of the ledgers cannot be kept in %s: %w", dir, fault.Reason(err))
	case len(key) != keySize:
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "the key of the ledgers %s is damaged", path),
			"without it unfinished runs cannot go on; remove it to begin new ones")
	}
	return key, nil
}

// makeKey makes the key unless another process has made it meanwhile.
func makeKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".ledger-key-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	key := make([]byte, keySize)
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

const keySize = 32 // bytes
