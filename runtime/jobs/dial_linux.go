package jobs

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// silence is how long a connection to the database may go without an answer from the other machine.
const silence = 15 * time.Second

// bounded makes the kernel close connections to a peer that vanished, which could otherwise block for hours.
func bounded(network, _ string, c syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	})
	if failed != nil {
		return failed
	}
	return err
}
