package luastd

import (
	"syscall"
	"time"
)

// processorTime returns the processor time used by the process.
func processorTime() time.Duration {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		return 0
	}
	ticks := func(t syscall.Filetime) time.Duration { // of 100 ns
		return time.Duration(int64(t.HighDateTime)<<32 | int64(t.LowDateTime))
	}
	return 100 * (ticks(kernel) + ticks(user))
}
