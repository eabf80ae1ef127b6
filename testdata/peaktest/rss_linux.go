package peaktest

import (
	"os"
	"syscall"
)

// Of is the most memory a process had, in bytes.
func Of(p *os.ProcessState) int64 {
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10
	}
	return 0
}
