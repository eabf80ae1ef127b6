//go:build unix

package plan

import (
	"time"

	"golang.org/x/sys/unix"
)

// changeTime is when a file was last changed, or what is known of it.
func changeTime(path string) time.Time {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix()).UTC()
}
