package link

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is a clock that all processes of the machine share, that nobody sets, and
// that goes on while the machine sleeps.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err) // there since Linux 2.6.39
	}
	return time.Duration(t.Nano())
}
