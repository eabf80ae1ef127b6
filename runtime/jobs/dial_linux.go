package jobs

import (
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// silence is how long a connection to the database may go without an answer of the
// other machine.
const silence = 15 * time.Second

// bounded ends connections whose other end is gone without a word, which would be
// waited for by the hour.
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
