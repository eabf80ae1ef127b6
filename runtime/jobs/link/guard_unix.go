//go:build unix

package link

import (
	"os"
	"syscall"
	"time"
)

// How often the lease is looked at, and how long after its end the process ends. A
// worker that lives stops the process before.
const (
	guardEvery = 100 * time.Millisecond
	guardAfter = 250 * time.Millisecond
)

// Guard ends this process, with the programs that it started, when its worker is gone
// or gives no sign until the lease is over: another worker begins the job anew.
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
		case !over || Now()-began > 10*guardEvery: // it was stopped itself: news may wait to be read
			late = 0
		default:
			late++
		}
	}
	endGroup()
}

// endGroup kills the group of this process, of which a worker made it the leader.
func endGroup() {
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
	os.Exit(1)
}
