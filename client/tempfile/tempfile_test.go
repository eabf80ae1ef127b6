package tempfile

import (
	"os"
	"path/filepath"
	"testing"
)

type record struct {
	a int64
	b [60]byte
}

// TestColumn reads back what fits into memory, what lies in a file, and what
// could not be put into one.
func TestColumn(t *testing.T) {
	for name, dir := range map[string]string{"file": t.TempDir(), "no folder": filepath.Join(t.TempDir(), "none")} {
		for _, n := range []int{0, 1, 100, most/68 + 1, 3*most/68 + 7} {
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
				if got, err := c.Get(n - 1 - i); err != nil || got.a != int64(n-1-i) {
					t.Fatalf("%s, %d: %d is %v, %v", name, n, n-1-i, got.a, err)
				}
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
			if _, err := c.Get(n); err == nil {
				t.Errorf("%s, %d: a record after the last", name, n)
			}
			c.Close()
			if left, err := os.ReadDir(dir); name == "file" && (err != nil || len(left) > 0) {
				t.Errorf("left %v, %v", left, err)
			}
		}
	}
}

// A file that became shorter is an error, not a record of zeros.
func TestShortened(t *testing.T) {
	var c Column[record]
	c.Dir = t.TempDir()
	defer c.Close()
	for i := range 3 * most / 68 {
		c.Add(record{a: int64(i)})
	}
	if err := c.file.Truncate(100); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(5); err == nil {
		t.Error("read what is gone")
	}
}
