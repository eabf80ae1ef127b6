// Package checksum computes MD5 checksums, several at a time on the SIMD lanes of the processor
// where that is faster than sequentially.
//
// Batcher is for files in memory that arrive one by one, Lanes for streams read concurrently.
package checksum

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"hash"
	"runtime"
	"sync"

	md5simd "github.com/minio/md5-simd"
)

const (
	// Width is the number of lanes.
	Width = 16 // md5simd.Lanes, defined only on amd64
	// minLanes is the number of hashes from which SIMD is faster than hashing sequentially.
	minLanes = 3
)

// Lanes are hashes computed in parallel.
type Lanes struct {
	server md5simd.Server
	hashes [Width]md5simd.Hasher
}

// idleLanes are kept for reuse, because creating some takes longer than hashing a small file.
var idleLanes = make(chan *Lanes, 2)

// TakeLanes returns lanes for exclusive use until Release.
func TakeLanes() *Lanes {
	select {
	case l := <-idleLanes:
		return l
	default:
	}
	l := &Lanes{server: md5simd.NewServer()}
	for i := range l.hashes {
		l.hashes[i] = l.server.NewHash()
	}
	return l
}

// Hash returns the i-th hash, reset.
func (l *Lanes) Hash(i int) hash.Hash {
	l.hashes[i].Reset()
	return l.hashes[i]
}

// Release ends the use of the lanes and their hashes.
func (l *Lanes) Release() {
	select {
	case idleLanes <- l:
	default:
		for _, h := range l.hashes {
			h.Close()
		}
		l.server.Close()
	}
}

// Hex returns the sum of a hash in hexadecimal.
func Hex(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// Batcher hashes files in memory; those that arrive during a batch form the next one. Its zero
// value is ready for use by several goroutines.
type Batcher struct {
	mu      sync.Mutex
	waiting []job
	running bool // waiting files will be hashed
}

type job struct {
	data []byte
	sum  chan string
}

// Sum returns the checksum of a file in hexadecimal.
func (b *Batcher) Sum(data []byte) string {
	j := job{data, make(chan string, 1)}
	b.mu.Lock()
	b.waiting = append(b.waiting, j)
	begin := !b.running
	b.running = true
	b.mu.Unlock()
	if begin {
		go b.run()
	}
	return <-j.sum
}

// run hashes until no files wait. One batch at a time suffices: its lanes are faster than a disk or a network.
func (b *Batcher) run() {
	for {
		runtime.Gosched() // let others join the batch
		b.mu.Lock()
		batch := b.waiting[:min(len(b.waiting), Width)]
		b.waiting = b.waiting[len(batch):]
		b.running = len(batch) > 0
		b.mu.Unlock()
		switch {
		case len(batch) == 0:
			return
		case len(batch) < minLanes:
			for _, j := range batch {
				j.run(md5.New())
			}
		default:
			lanes := TakeLanes()
			var group sync.WaitGroup
			for i, j := range batch {
				group.Go(func() { j.run(lanes.Hash(i)) })
			}
			group.Wait()
			lanes.Release()
		}
	}
}

func (j job) run(h hash.Hash) {
	h.Write(j.data) // never fails
	j.sum <- Hex(h)
}
