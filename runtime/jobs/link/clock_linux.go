package link

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the time of a clock that all processes of the machine share, that cannot be set, and that runs
// during sleep.
func Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic(err) // there since Linux 2.6.39
	}
	return time.Duration(t.Nano())
}
