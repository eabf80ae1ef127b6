package declare

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// TestReadersOfAStream: with several readers, some waiting for pages, each record goes to one.
func TestReadersOfAStream(t *testing.T) {
	const pages, size = 200, 7
	page := 0
	s := NewStream(nil, func(context.Context) (records [][]byte, more bool, err error) {
		for i := range size {
			records = append(records, []byte(strconv.Itoa(page*size+i)))
		}
		page++
		return records, page < pages, nil
	}, nil)
	var times [pages * size]atomic.Int32
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for {
				record, ok := s.TryNext()
				if !ok {
					var err error
					if record, ok, err = s.Next(t.Context()); err != nil || !ok {
						return
					}
				}
				n, _ := strconv.Atoi(string(record))
				times[n].Add(1)
			}
		})
	}
	readers.Wait()
	for n := range times {
		if got := times[n].Load(); got != 1 {
			t.Errorf("record %d went to %d readers", n, got)
		}
	}
}
