package httpcore

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// queued is how many bytes the system has taken and the peer has not confirmed:
// they still move, although nothing is being written.
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
