// Package checksum computes MD5s, several at a time on the lanes of the CPU
// where that is faster than each for itself.
package checksum

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"hash"
	"sync"

	md5simd "github.com/minio/md5-simd"
)

// fromLanes is from how many streams on hashing side by side is faster than
// one after the other.
const fromLanes = 4

// Lanes hands out hashes. Its zero value is ready for use.
type Lanes struct {
	mu     sync.Mutex
	atOnce int
	users  int
	server md5simd.Server // there are users of it
}

// Digest is a hash that has to be closed.
type Digest interface {
	hash.Hash
	Close()
}

type alone struct{ hash.Hash }

func (alone) Close() {}

// Stream makes a hash for one of so many streams that are there at a time.
func (l *Lanes) Stream(streams int) Digest {
	if streams < fromLanes {
		return alone{md5.New()}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users++; l.server == nil {
		l.server = md5simd.NewServer()
	}
	return &lane{Hasher: l.server.NewHash(), lanes: l}
}

// lane is a stream on the server, which ends with its last stream.
type lane struct {
	md5simd.Hasher
	lanes *Lanes
}

func (d *lane) Close() {
	d.Hasher.Close()
	l := d.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users--; l.users == 0 {
		l.server.Close()
		l.server = nil
	}
}

// Of is the checksum of bytes in memory, in hexadecimal.
func (l *Lanes) Of(data []byte) string {
	l.mu.Lock()
	l.atOnce++
	streams := l.atOnce
	l.mu.Unlock()
	d := l.Stream(streams)
	d.Write(data)
	sum := Hex(d)
	d.Close()
	l.mu.Lock()
	l.atOnce--
	l.mu.Unlock()
	return sum
}

// Hex is the sum of a hash in hexadecimal.
func Hex(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
