//go:build unix

package plan

import (
	"time"

	"golang.org/x/sys/unix"
)

// changeTime identifies the last change of a file, by its inode's change time.
func changeTime(path string) time.Time {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix()).UTC()
}
