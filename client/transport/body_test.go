package transport

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"transect/client/fault"
)

func TestReadAll(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	for _, declared := range []int64{-1, 0, 10, int64(len(text)), int64(len(text)) + 5, piece, piece + 1, 1 << 60} {
		got, err := readAll(nil, strings.NewReader(text), 1<<30, declared)
		if err != nil || string(got) != text {
			t.Errorf("declared %d: %d bytes, %v", declared, len(got), err)
		}
	}
	got, err := readAll(nil, io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF)), 1<<30, 10)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(got, []byte("abc")) {
		t.Errorf("%q, %v", got, err)
	}
	// What was declared is there at once: nothing is copied again.
	// The race detector makes one allocation more.
	n := testing.AllocsPerRun(10, func() { _, _ = readAll(nil, strings.NewReader(text), 1<<30, int64(len(text))) })
	if n > 4 {
		t.Errorf("%v allocations", n)
	}
}

// The memory of an answer grows to its bound and no further: half as much again would be
// there at once while it is copied.
func TestAnswersGrowToTheirBound(t *testing.T) {
	const bound = 3 << 20
	var b bytes.Buffer
	got, err := readAll(&b, io.LimitReader(zeros{}, 1<<30), bound, -1)
	if err != fault.ErrAnswerTooLarge || len(got) != bound || b.Cap() > bound+bytes.MinRead {
		t.Errorf("%d bytes in a buffer of %d, %v", len(got), b.Cap(), err)
	}
}

// Answers of several pieces come whole, and take twice their size at most, into a new
// buffer and into one that is there.
func TestReadAllInPieces(t *testing.T) {
	text := []byte(strings.Repeat("0123456789abcdef", 5<<20/2)) // 40 MiB
	var b bytes.Buffer
	for _, into := range []*bytes.Buffer{nil, &b, &b} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := readAll(into, iotest.OneByteReader(bytes.NewReader(text[:100])), 1<<30, -1)
		if err != nil || !bytes.Equal(got, text[:100]) {
			t.Fatal(len(got), err)
		}
		got, err = readAll(into, bytes.NewReader(text), 1<<30, -1)
		runtime.ReadMemStats(&after)
		if err != nil || !bytes.Equal(got, text) {
			t.Fatal(len(got), err)
		}
		// The first piece grows by doubling.
		if took := int(after.TotalAlloc - before.TotalAlloc); took > 2*len(text)+3*piece {
			t.Errorf("it took %d MiB", took>>20)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
