package journal

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzJournal opens any bytes, and damaged journals, as a journal and its log:
// it may be rotated, but never claims what was not confirmed, and can be used
// afterwards.
func FuzzJournal(f *testing.F) {
	dir := f.TempDir()
	j := New(dir, nil)
	id := begin(j, "a", 30)
	for _, n := range []int{1, 4, 9, 30} {
		j.Confirm(to("a"), id, n)
	}
	begin(j, "b", 1)
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	half, log := read(File), read(File+"-wal")
	if err := j.Close(); err != nil {
		f.Fatal(err)
	}
	valid := read(File)
	f.Add([]byte("nothing of the kind"), []byte{}, uint32(0), uint32(0), byte(0))
	f.Add([]byte{}, []byte{}, uint32(0), uint32(0), byte(0))
	f.Add(valid, []byte{}, uint32(4096), uint32(0), byte(1))
	f.Add(half, log, uint32(0), uint32(5000), byte(255))
	// The mutator rarely changes long inputs well: two bytes of the valid ones
	// are changed as well, wherever at says.
	f.Fuzz(func(t *testing.T, main, log []byte, at, atLog uint32, bits byte) {
		if len(main) == 0 || bits == 0 {
			main = append([]byte(nil), main...)
		} else if bits&1 == 1 {
			main = append([]byte(nil), valid...)
			log = nil
		} else {
			main, log = append([]byte(nil), half...), append([]byte(nil), log...)
		}
		if len(main) > 0 {
			main[int(at)%len(main)] ^= bits
		}
		if len(log) > 0 {
			log = append([]byte(nil), log...)
			log[int(atLog)%len(log)] ^= bits
		}
		dir := t.TempDir()
		for name, b := range map[string][]byte{File: main, File + "-wal": log} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		j := New(dir, nil)
		for _, n := range done(j, "a") {
			if n != 1 && n != 4 && n != 9 && n != 30 {
				t.Errorf("part %d was never confirmed", n)
			}
		}
		for _, name := range []string{"a", "b"} {
			if u := j.Find(to(name), fileOf(name, 1)); u != nil && (u.MD5 != whole || u.Chunk != chunk) {
				t.Errorf("%s: %+v", name, u)
			}
		}
		j.Confirm(to("c"), begin(j, "c", 3), 2)
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}
