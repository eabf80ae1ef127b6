package journal

import (
	"bytes"
	"os"
	"testing"
)

// FuzzJournal reads any bytes, and damaged journals, as the journal of an upload:
// it never claims what was not confirmed, and can be used afterwards.
func FuzzJournal(f *testing.F) {
	dir := f.TempDir()
	j := New(dir, nil)
	id := begin(j, "a", 30)
	for _, n := range []int{1, 4, 9, 30} {
		j.Confirm(to("a"), id, n)
	}
	valid, err := os.ReadFile(fileIn(f, dir))
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("nothing of the kind"), uint32(0), byte(0))
	f.Add([]byte{}, uint32(0), byte(0))
	f.Add(valid, uint32(40), byte(1))
	// The mutator rarely changes long inputs well: one byte of a valid journal is
	// changed as well, wherever at says.
	f.Fuzz(func(t *testing.T, content []byte, at uint32, bits byte) {
		if bits != 0 {
			content = bytes.Clone(valid)
			content[int(at)%len(content)] ^= bits
		}
		dir := t.TempDir()
		j := New(dir, nil)
		begin(j, "a", 30)
		if err := os.WriteFile(fileIn(t, dir), content, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, n := range done(j, "a") {
			if n != 1 && n != 4 && n != 9 && n != 30 {
				t.Errorf("part %d was never confirmed", n)
			}
		}
		if u := j.Find(to("a"), fileOf("a", 30)); u != nil && (u.MD5 != whole || u.Chunk != chunk) {
			t.Errorf("%+v", u)
		}
		j.Confirm(to("a"), begin(j, "a", 3), 2)
		if got := done(j, "a"); len(got) != 1 || got[0] != 2 {
			t.Error(got)
		}
	})
}
