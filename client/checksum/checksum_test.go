package checksum

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"sync"
	"testing"
)

// TestBatcher: sums are right, however many are computed at a time.
func TestBatcher(t *testing.T) {
	var b Batcher
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			data := bytes.Repeat([]byte{byte(i), 7}, i*300)
			want := md5.Sum(data)
			if got := b.Sum(data); got != hex.EncodeToString(want[:]) {
				t.Errorf("%d: %v", i, got)
			}
		})
	}
	group.Wait()
}

// TestLanesAreReset: released lanes start from scratch.
func TestLanesAreReset(t *testing.T) {
	want := md5.Sum([]byte("another"))
	for range 3 * cap(idleLanes) {
		l := TakeLanes()
		defer l.Release()
		l.Hash(1).Write([]byte("left over"))
		h := l.Hash(1)
		h.Write([]byte("another"))
		if got := Hex(h); got != hex.EncodeToString(want[:]) {
			t.Error(got)
		}
		l.Hash(2).Write([]byte("left over"))
	}
}

// BenchmarkBatcher hashes files of 200 kB, n at a time.
func BenchmarkBatcher(b *testing.B) {
	for _, n := range []int{1, minLanes, Width / 2, Width} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n) * 200_000)
			var batcher Batcher
			data := make([]byte, 200_000)
			for b.Loop() {
				var group sync.WaitGroup
				for range n {
					group.Go(func() { batcher.Sum(data) })
				}
				group.Wait()
			}
		})
	}
}
