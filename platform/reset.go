package platform

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"transect/client/fault"
)

// Reset removes a local platform with everything in it: only what Open made,
// and only from a folder that Open made. A folder that is not there is no error.
func Reset(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// Any stamp will do, also one that is damaged or of a newer version: those
	// are the folders people want to be rid of.
	if _, err := os.Stat(filepath.Join(dir, stampFile)); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fault.Hinted(fault.Of(&fault.PlatformError{}, "%s is no local platform's folder; nothing was removed", dir),
				"name the folder with --local-dir")
		}
		return cannotUse(dir, err)
	}
	// What was being written when a process was killed has a name of this form.
	list, err := os.ReadDir(dir)
	if err != nil {
		return cannotUse(dir, err)
	}
	for _, entry := range list {
		if strings.HasPrefix(entry.Name(), lockFile+"-") {
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
				return cannotUse(dir, err)
			}
		}
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry)); err != nil {
			return cannotUse(dir, err)
		}
	}
	// Something else may be in the folder; it stays then, and the folder with it.
	if left, err := os.ReadDir(dir); err == nil && len(left) == 0 {
		if err := os.Remove(dir); err != nil {
			return cannotUse(dir, err)
		}
	}
	return nil
}
