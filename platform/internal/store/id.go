package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"
)

// IDs generates identifiers of 24 hexadecimal digits that sort by creation: the first 8 are the second, the
// next 5 the microsecond, and the remaining 11 are random, so that two processes never generate the same one.
type IDs struct {
	mu   sync.Mutex
	last int64 // microseconds; never decreases, even when the clock does
}

// Next returns a new identifier, larger than all identifiers that g returned before.
func (g *IDs) Next(now time.Time) string {
	micro := now.UnixMicro()
	g.mu.Lock()
	if micro <= g.last {
		micro = g.last + 1
	}
	g.last = micro
	g.mu.Unlock()

	var b [12]byte
	rand.Read(b[:])
	seconds, rest := uint64(micro/1e6), uint64(micro%1e6)
	random := uint64(binary.BigEndian.Uint16(b[6:8])) & 0xfff
	binary.BigEndian.PutUint64(b[:8], seconds<<32|rest<<12|random)
	return hex.EncodeToString(b[:])
}
