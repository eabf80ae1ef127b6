//go:build !linux

package httpcore

// queued is unknown on this system: bytes it has taken count as sent.
func (c *limitedConn) queued() int64 { return 0 }
