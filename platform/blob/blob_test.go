package blob

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

func TestReceive(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.Receive(strings.NewReader("hello "), -1, nil)
	if err != nil || one.Size != 6 || one.MD5 != "f814893777bcc2295fff05f00e508da6" {
		t.Fatalf("%+v %v", one, err)
	}
	f, err := s.Open(one.ID)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(f)
	f.Close()
	if string(text) != "hello " {
		t.Errorf("read %q", text)
	}
	if _, err := s.Receive(strings.NewReader("too long"), 3, nil); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
	broken := errors.New("broken")
	if _, err := s.Receive(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), -1, nil); !errors.Is(err, broken) {
		t.Errorf("broken off: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "incoming")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for range 2 {
		if err := s.Remove(one.ID); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{one.ID, "", "../../../../etc/passwd", strings.Repeat("/", 32)} {
		if _, err := s.Open(id); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("open %q: %v", id, err)
		}
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, "incoming", "left")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Sweep(time.Now().Add(-time.Hour))
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a fresh one is gone: %v", err)
	}
	s.Sweep(time.Now().Add(time.Hour))
	if _, err := os.Stat(left); err == nil {
		t.Error("an old one is still there")
	}
}

// Small blobs lie side by side in one file, give their space back, and a pack
// goes with its last piece once nobody appends to it.
func TestPacks(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.packs.add(nil); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("files cannot have holes here")
	}
	var wait sync.WaitGroup
	ids := make([]string, 200)
	content := func(i int) string { return strings.Repeat(strconv.Itoa(i), i*20) }
	for i := range ids {
		wait.Go(func() {
			b, err := s.Receive(strings.NewReader(content(i)), -1, nil)
			if err != nil {
				t.Error(err)
			}
			ids[i] = b.ID
		})
	}
	wait.Wait()
	packs, err := os.ReadDir(filepath.Join(dir, "packs"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("%v %v", packs, err)
	}
	for i, id := range ids {
		f, err := s.Open(id)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		if err != nil || string(text) != content(i) {
			t.Fatalf("%d: %q %v", i, text, err)
		}
		if i > 0 { // nothing has no bytes to lose
			if err := s.Remove(id); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Open(id); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("a removed piece: %v", err)
			}
		}
	}
	last, err := s.Receive(strings.NewReader("last"), -1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := Open(dir, false) // another process
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{last.ID, strings.Replace(last.ID, ".", "..", 1), "../" + last.ID, last.ID + "0", strings.ToUpper(last.ID)} {
		f, err := other.Open(id)
		if (err == nil) != (id == last.ID) {
			t.Errorf("%s: %v", id, err)
		}
		if err == nil {
			f.Close()
		}
	}
	if err := other.Remove(last.ID); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "packs")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A full pack is left for a new one, while pieces are on their way to it.
func TestFullPack(t *testing.T) {
	s, err := Open(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.packs.add(nil); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("files cannot have holes here")
	}
	s.packs.current.end = packSize - block
	slow, at, err := s.packs.reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.Receive(strings.NewReader("after"), -1, nil)
	if err != nil || strings.HasPrefix(after.ID, at.pack) {
		t.Fatalf("%+v %v", after, err)
	}
	if _, err := slow.file.WriteAt([]byte("x"), at.offset); err != nil {
		t.Errorf("closed while a piece was on its way: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Parts come in any order, again, too long, too short, and from another process.
func TestAssembly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		open := func() *Store {
			s, err := Open(dir, true)
			if err != nil {
				rt.Fatal(err)
			}
			return s
		}
		s := open()
		id := randomName()
		const chunk = 1000
		content := rapid.SliceOfN(rapid.Byte(), 1, 5*chunk).Draw(rt, "content")
		part := func(n int) []byte { return content[n*chunk : min(len(content), (n+1)*chunk)] }
		place := func(n int, data []byte) (Blob, error) {
			return s.Place(id, int64(n*chunk), int64(len(part(n))), bytes.NewReader(data))
		}
		parts := (len(content) + chunk - 1) / chunk
		order := rapid.Permutation(slices.Collect(func(yield func(int) bool) {
			for n := range parts {
				if !yield(n) {
					return
				}
			}
		})).Draw(rt, "order")
		for _, n := range order {
			switch rapid.IntRange(0, 4).Draw(rt, "before") {
			case 0:
				if _, err := place(n, append(slices.Clone(part(n)), 0)); !errors.Is(err, ErrTooLong) {
					rt.Fatal("too long:", err)
				}
			case 1:
				if b, err := place(n, part(n)[1:]); err != nil || b.Size != int64(len(part(n))-1) {
					rt.Fatal("too short:", b, err)
				}
			case 2: // other bytes of the same part, taken for good
				if _, err := place(n, make([]byte, len(part(n)))); err != nil {
					rt.Fatal(err)
				}
				s.Placed(id, int64(n*chunk), int64(len(part(n))))
			case 3:
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = open()
			}
			sum := md5.Sum(part(n))
			b, err := place(n, part(n))
			if err != nil || b.MD5 != hex.EncodeToString(sum[:]) {
				rt.Fatal(b, err)
			}
			s.Placed(id, int64(n*chunk), b.Size)
		}
		spoilt := rapid.Bool().Draw(rt, "spoilt")
		if spoilt { // a part comes once more, wrong, and never right again
			wrong := slices.Clone(part(0))
			wrong[0]++
			if _, err := place(0, wrong); err != nil {
				rt.Fatal(err)
			}
		}
		sum := md5.Sum(content)
		whole, err := s.Whole(id, int64(len(content)))
		if err != nil || (whole.MD5 == hex.EncodeToString(sum[:])) == spoilt {
			rt.Fatal(whole, err)
		}
		if _, err := s.Whole(id, int64(len(content))+1); err == nil {
			rt.Fatal("bytes are missing")
		}
		if err := s.Remove(id); err != nil {
			rt.Fatal(err)
		}
		if _, err := s.Open(id); !errors.Is(err, os.ErrNotExist) {
			rt.Fatal("still there:", err)
		}
		s.Close()
	})
}
