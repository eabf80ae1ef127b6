package tempfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

type record struct {
	a int64
	b [60]byte
}

// TestColumn reads back records in memory, in a file, and those that could not be written to one.
func TestColumn(t *testing.T) {
	for name, dir := range map[string]string{"file": t.TempDir(), "no folder": filepath.Join(t.TempDir(), "none")} {
		for _, n := range []int{0, 1, 100, maxInMemory/68 + 1, 3*maxInMemory/68 + 7} {
			var c Column[record]
			c.Dir = dir
			for i := range n {
				c.Add(record{a: int64(i), b: [60]byte{59: byte(i)}})
			}
			if (c.file != nil) != (name == "file" && n > 100) {
				t.Errorf("%s, %d: a file %v", name, n, c.file)
			}
			for i := range n {
				want := record{a: int64(i), b: [60]byte{59: byte(i)}}
				if got := c.At(i); got != want {
					t.Fatalf("%s, %d: %d is %v", name, n, i, got)
				}
			}
			seen := 0
			for i, r := range c.All {
				if seen++; int(r.a) != i {
					t.Fatalf("%s, %d: %d is %v", name, n, i, r.a)
				}
			}
			if seen != n || c.Len() != n {
				t.Errorf("%s: %d and %d of %d", name, seen, c.Len(), n)
			}
			c.Close()
			if left, err := os.ReadDir(dir); name == "file" && (err != nil || len(left) > 0) {
				t.Errorf("left %v, %v", left, err)
			}
		}
	}
}

// TestRecords reads records of any size by their offsets, up to a million bytes.
func TestRecords(t *testing.T) {
	for name, dir := range map[string]string{"file": t.TempDir(), "no folder": filepath.Join(t.TempDir(), "none")} {
		var r Records
		r.Dir = dir
		defer r.Close()
		sizes := []int{0, 1, 507, 508, 509, 5000, 1 << 20, 3}
		var offsets []int64
		for i, size := range sizes {
			offsets = append(offsets, r.Add(bytes.Repeat([]byte{byte(i)}, size)))
		}
		for i, size := range sizes {
			if got, err := r.Get(offsets[i]); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{byte(i)}, size)) {
				t.Errorf("%s: record %d has %d bytes, %v", name, i, len(got), err)
			}
		}
	}
}

// TestTruncated: a file that became shorter is an error, not a record of zeros.
func TestTruncated(t *testing.T) {
	var r Records
	r.Dir = t.TempDir()
	defer r.Close()
	var offsets []int64
	for range 3 * maxInMemory / 68 {
		offsets = append(offsets, r.Add(make([]byte, 68)))
	}
	if err := r.file.Truncate(100); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get(offsets[5]); err == nil {
		t.Error("read a record beyond the end")
	}
}
