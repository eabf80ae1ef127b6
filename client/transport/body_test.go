package transport

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadAll(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	for _, declared := range []int64{-1, 0, 10, int64(len(text)), int64(len(text)) + 5, trusted, trusted + 1, 1 << 60} {
		got, err := readAll(nil, strings.NewReader(text), declared)
		if err != nil || string(got) != text {
			t.Errorf("declared %d: %d bytes, %v", declared, len(got), err)
		}
	}
	got, err := readAll(nil, io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(io.ErrUnexpectedEOF)), 10)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(got, []byte("abc")) {
		t.Errorf("%q, %v", got, err)
	}
	// What was declared is there at once: nothing is copied again.
	if n := testing.AllocsPerRun(10, func() { _, _ = readAll(nil, strings.NewReader(text), int64(len(text))) }); n > 3 {
		t.Errorf("%v allocations", n)
	}
}
