// Package checksum computes MD5s, several at a time on the lanes of the CPU
// where that is faster than each for itself, and what tells damage.
package checksum

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"hash"
	"sync"

	md5simd "github.com/minio/md5-simd"
)

const (
	// Width is how many hashes Lanes hold.
	Width = 8
	// fromLanes is from how many on hashing side by side is faster than one
	// after the other.
	fromLanes = 3
)

// Lanes are hashes that are computed side by side.
type Lanes struct {
	server md5simd.Server
	hashes [Width]md5simd.Hasher
}

// spare are Lanes that nobody uses: making some takes longer than hashing many
// a file.
var spare = make(chan *Lanes, 2)

// Take gives Lanes to use, and to be given back.
func Take() *Lanes {
	select {
	case l := <-spare:
		return l
	default:
	}
	l := &Lanes{server: md5simd.NewServer()}
	for i := range l.hashes {
		l.hashes[i] = l.server.NewHash()
	}
	return l
}

// Hash is the i-th hash, from 0, at its beginning.
func (l *Lanes) Hash(i int) hash.Hash {
	l.hashes[i].Reset()
	return l.hashes[i]
}

// Give ends the use of Lanes and their hashes.
func (l *Lanes) Give() {
	select {
	case spare <- l:
	default:
		for _, h := range l.hashes {
			h.Close()
		}
		l.server.Close()
	}
}

// All gives the checksum of each of some bytes in memory, which come in blocks,
// in hexadecimal.
func All(data [][][]byte) []string {
	sums := make([]string, 0, len(data))
	for len(data) > 0 {
		now := data[:min(len(data), Width)]
		data = data[len(now):]
		if len(now) < fromLanes {
			for _, blocks := range now {
				sums = append(sums, of(md5.New(), blocks))
			}
			continue
		}
		sums = append(sums, sideBySide(now)...)
	}
	return sums
}

func sideBySide(data [][][]byte) []string {
	sums := make([]string, len(data))
	l := Take()
	defer l.Give()
	var group sync.WaitGroup
	for i, blocks := range data {
		group.Go(func() { sums[i] = of(l.Hash(i), blocks) })
	}
	group.Wait()
	return sums
}

func of(h hash.Hash, blocks [][]byte) string {
	for _, b := range blocks {
		h.Write(b) // never fails
	}
	return Hex(h)
}

// Hex is the sum of a hash in hexadecimal.
func Hex(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
