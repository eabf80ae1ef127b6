package transport

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// queued is how many bytes this system has taken but the other side has not
// confirmed: what is still under way moves, although nobody here writes.
func (c *limitedConn) queued() int64 {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	_ = raw.Control(func(fd uintptr) { // 0 when it is closed
		n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
	})
	return int64(n)
}
