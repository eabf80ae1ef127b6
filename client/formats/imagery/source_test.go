package imagery

import (
	"bytes"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// TestSourceReadsAsTheFile: reads through the window equal reads of the file, even when the file is
// shorter than expected.
func TestSourceReadsAsTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := make([]byte, rapid.IntRange(0, 4*windowSize).Draw(t, "bytes"))
		for i := range content {
			content[i] = byte(i * 31 >> 3)
		}
		said := int64(len(content) + rapid.SampledFrom([]int{0, 0, 1, windowSize}).Draw(t, "missing"))
		s := newSource(bytes.NewReader(content), said)
		defer s.release()
		for range rapid.IntRange(1, 20).Draw(t, "reads") {
			b := make([]byte, rapid.IntRange(1, windowSize).Draw(t, "asked"))
			at := rapid.Int64Range(-1, said+1).Draw(t, "offset")
			n, err := s.ReadAt(b, at)
			want := []byte{}
			if at >= 0 && at < int64(len(content)) {
				want = content[at:min(at+int64(len(b)), int64(len(content)))]
			}
			if !bytes.Equal(b[:n], want) || (err == nil) != (n == len(b)) || err != nil && err != io.EOF {
				t.Fatalf("%d bytes at %d of %d: %d bytes, %v", len(b), at, len(content), n, err)
			}
		}
		if s.err != nil {
			t.Fatal(s.err)
		}
	})
}
