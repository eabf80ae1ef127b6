package platform

import (
	"errors"
	"os"
	"path/filepath"

	"transect/client/fault"
)

// Reset deletes a local platform with all its data. It deletes only what Open
// creates, and only in a folder that Open created. A missing folder is no error.
func Reset(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// The stamp may be damaged or of a newer version: such folders need a reset.
	if _, err := os.Stat(filepath.Join(dir, stampFile)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fault.Hinted(fault.Of(&fault.PlatformError{}, "%s is not the folder of a local platform; nothing was deleted", dir),
				"name the folder with --local-dir")
		}
		return cannotUse(dir, err)
	}
	// Temporary files of a process that was killed while it created the folder.
	left, err := filepath.Glob(filepath.Join(dir, ".transect-*"))
	if err != nil {
		return cannotUse(dir, err)
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return cannotUse(dir, err)
		}
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry)); err != nil {
			return cannotUse(dir, err)
		}
	}
	// Other files stay, and the folder with them.
	if left, err := os.ReadDir(dir); err == nil && len(left) == 0 {
		if err := os.Remove(dir); err != nil {
			return cannotUse(dir, err)
		}
	}
	return nil
}
