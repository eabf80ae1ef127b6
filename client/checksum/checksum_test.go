package checksum

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"sync"
	"testing"
)

// Sums are right, however many are computed at a time and by how many.
func TestAll(t *testing.T) {
	var wait sync.WaitGroup
	for n := range 20 {
		wait.Go(func() {
			data := make([][][]byte, n)
			want := make([]string, n)
			for i := range data {
				block := bytes.Repeat([]byte{byte(i), byte(n)}, i*500)
				data[i] = [][]byte{block, nil, block[:len(block)/3]}
				sum := md5.Sum(bytes.Join(data[i], nil))
				want[i] = hex.EncodeToString(sum[:])
			}
			if got := All(data); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d: %v, not %v", n, got, want)
			}
		})
	}
	wait.Wait()
}

// Lanes that were given back begin anew.
func TestLanesAgain(t *testing.T) {
	want := md5.Sum([]byte("another"))
	for range 3 * cap(spare) {
		l := Take()
		defer l.Give()
		l.Hash(1).Write([]byte("left over"))
		h := l.Hash(1)
		h.Write([]byte("another"))
		if got := Hex(h); got != hex.EncodeToString(want[:]) {
			t.Error(got)
		}
		l.Hash(2).Write([]byte("left over"))
	}
}

// BenchmarkAll compares files of 200 KB hashed side by side with each for itself.
func BenchmarkAll(b *testing.B) {
	for _, n := range []int{1, minLanes, Width} {
		data := make([][][]byte, n)
		for i := range data {
			data[i] = [][]byte{make([]byte, 200<<10)}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n) * 200 << 10)
			for b.Loop() {
				All(data)
			}
		})
	}
}
