package checksum

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"sync"
	"testing"
)

// Sums are right, however many are computed at a time, and nothing goes on
// afterwards.
func TestLanes(t *testing.T) {
	var l Lanes
	var wait sync.WaitGroup
	for i := range 100 {
		wait.Go(func() {
			data := bytes.Repeat([]byte{byte(i)}, i*1000)
			sum := md5.Sum(data)
			if got := l.Of(data); got != hex.EncodeToString(sum[:]) {
				t.Errorf("%d bytes: %s", len(data), got)
			}
		})
	}
	wait.Wait()
	if l.server != nil || l.users != 0 || l.atOnce != 0 {
		t.Error("the hash server goes on")
	}
}

// BenchmarkOf compares bytes of 200 KB hashed side by side with each for itself.
func BenchmarkOf(b *testing.B) {
	data := make([]byte, 200<<10)
	b.Run("alone", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			md5.Sum(data)
		}
	})
	b.Run("side by side", func(b *testing.B) {
		var l Lanes
		b.SetBytes(int64(len(data)))
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				l.Of(data)
			}
		})
	})
}
