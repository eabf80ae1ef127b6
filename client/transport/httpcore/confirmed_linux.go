package httpcore

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// confirmed returns how many bytes the peer has confirmed, and whether others are in flight.
func (c *limitedConn) confirmed() (bytes int64, more bool) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return c.sent.Load(), false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return c.sent.Load(), false
	}
	var info *unix.TCPInfo
	failed := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if failed != nil || err != nil { // it is closed, or is not TCP
		return c.sent.Load(), false
	}
	// The system counts the beginning of the connection as a byte.
	return int64(info.Bytes_acked) - 1, info.Unacked > 0 || info.Notsent_bytes > 0
}
