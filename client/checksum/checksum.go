// Package checksum computes MD5 sums, several at a time in SIMD lanes (minio/md5-simd)
// when that is faster than one after the other. Transfers use it: All hashes data
// in memory, Take lends lanes for streams.
package checksum

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"hash"
	"sync"

	md5simd "github.com/minio/md5-simd"
)

const (
	// Width is the number of lanes.
	Width = 8
	// minLanes is from how many hashes on lanes are faster.
	minLanes = 3
)

// Lanes are hashes computed in parallel.
type Lanes struct {
	server md5simd.Server
	hashes [Width]md5simd.Hasher
}

// spare are unused Lanes: creating them takes longer than hashing many a file.
var spare = make(chan *Lanes, 2)

// Take returns Lanes to use until Give.
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

// Hash returns the i-th hash, from 0, after resetting it.
func (l *Lanes) Hash(i int) hash.Hash {
	l.hashes[i].Reset()
	return l.hashes[i]
}

// Give returns Lanes for reuse.
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

// All returns the MD5 sums in hexadecimal of data in memory, each in blocks.
func All(data [][][]byte) []string {
	sums := make([]string, 0, len(data))
	for len(data) > 0 {
		now := data[:min(len(data), Width)]
		data = data[len(now):]
		if len(now) < minLanes {
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

// Hex returns the sum of a hash in hexadecimal.
func Hex(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
