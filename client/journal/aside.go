package journal

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// keptAside is how many journals of each kind are kept, for those who want to look.
const keptAside = 3

// What a journal that was set aside is called.
const (
	damaged     = "corrupt"
	madeByNewer = "newer"
)

// setAside moves the files of a journal out of the way and says where to.
func setAside(path, kind string, now time.Time) (string, error) {
	to := path + "." + kind + "-" + now.UTC().Format("20060102T150405.000000000Z")
	if err := os.Rename(path, to); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	for _, end := range []string{"-wal", "-shm"} {
		// What the log holds is part of what is to be looked at.
		err := os.Rename(path+end, to+end)
		if err != nil && !os.IsNotExist(err) {
			return "", err // it would be taken for the new journal's
		}
	}
	old, _ := filepath.Glob(path + "." + kind + "-*Z") // the pattern is right
	slices.Sort(old)
	for len(old) > keptAside {
		for _, end := range []string{"", "-wal", "-shm"} {
			_ = os.RemoveAll(old[0] + end) // it stays until the next time
		}
		old = old[1:]
	}
	return to, nil
}
