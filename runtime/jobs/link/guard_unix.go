//go:build unix

package link

import (
	"os"
	"syscall"
	"time"
)

// How often the lease is checked, and how long after its end the process exits. A live worker stops the
// process before that.
const (
	guardEvery = 100 * time.Millisecond
	guardAfter = 250 * time.Millisecond
)

// Guard kills this process, with the programs that it started, when its worker is gone or silent until the
// lease expires: another worker restarts the job.
func (c *Child) Guard() {
	for late := 0; late < 2; {
		began := Now()
		select {
		case <-c.broken:
			endGroup()
		case <-time.After(guardEvery):
		}
		c.mu.Lock()
		over := Now() > c.until+guardAfter
		c.mu.Unlock()
		switch {
		case !over || Now()-began > 10*guardEvery: // the process itself was stopped: unread news may be waiting
			late = 0
		default:
			late++
		}
	}
	endGroup()
}

// endGroup kills the process group of this process, if a worker made it the leader.
func endGroup() {
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
	os.Exit(1)
}
