// Package checksum computes MD5 checksums, several at a time on the SIMD lanes
// of the processor where that is faster than one after the other.
//
// Batcher is for files in memory that come one by one, Lanes for streams that
// are read side by side.
package checksum

import (
	"crypto/md5" // the protocol's checksum, not a protection
	"encoding/hex"
	"hash"
	"sync"
	"time"

	md5simd "github.com/minio/md5-simd"
)

const (
	// Width is the number of lanes.
	Width = 16 // md5simd.Lanes, which only amd64 defines
	// minLanes is the number of hashes from which SIMD is faster than one hash
	// after the other.
	minLanes = 3
	// batchDelay is the maximum batching delay for SIMD MD5.
	batchDelay = 5 * time.Millisecond
)

// Lanes are hashes computed side by side.
type Lanes struct {
	server md5simd.Server
	hashes [Width]md5simd.Hasher
}

// idleLanes are reused: creating some takes longer than hashing a small file.
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

// Hex is the sum of a hash in hexadecimal.
func Hex(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// Batcher hashes files in memory in batches. Its zero value is ready for use by
// several goroutines.
type Batcher struct {
	mu    sync.Mutex
	batch []*job
}

// batches bounds the batches hashed at a time: lanes hold 1.5 MiB of buffers each, and
// more of them than processors gain nothing.
var batches = make(chan struct{}, cap(idleLanes))

type job struct {
	data []byte
	sum  chan string
}

// Sum returns the checksum of a file in hexadecimal. With delay it waits for
// other files, up to the maximum batching delay, unless the batch is full.
func (b *Batcher) Sum(data []byte, delay bool) string {
	j := &job{data, make(chan string, 1)}
	b.mu.Lock()
	b.batch = append(b.batch, j)
	n := len(b.batch)
	b.mu.Unlock()
	switch {
	case !delay, n == Width:
		b.flush()
	case n == 1:
		time.AfterFunc(batchDelay, b.flush)
	}
	return <-j.sum
}

// flush hashes the files of the present batch.
func (b *Batcher) flush() {
	b.mu.Lock()
	batch := b.batch
	b.batch = nil
	b.mu.Unlock()
	if len(batch) < minLanes {
		for _, j := range batch {
			j.run(md5.New())
		}
		return
	}
	batches <- struct{}{}
	defer func() { <-batches }()
	for len(batch) > 0 {
		now := batch[:min(len(batch), Width)]
		batch = batch[len(now):]
		lanes := TakeLanes()
		var group sync.WaitGroup
		for i, j := range now {
			group.Go(func() { j.run(lanes.Hash(i)) })
		}
		group.Wait()
		lanes.Release()
	}
}

func (j *job) run(h hash.Hash) {
	h.Write(j.data) // never fails
	j.sum <- Hex(h)
}
