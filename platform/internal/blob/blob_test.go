package blob

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

func open(t *testing.T) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func content(t *testing.T, s *Store, id string) string {
	t.Helper()
	f, err := s.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPut(t *testing.T) {
	s, dir := open(t)
	const hello = "f814893777bcc2295fff05f00e508da6"
	id := NewID()
	for range 2 { // repeating a request does no harm
		b, err := s.Put(id, strings.NewReader("hello "), hello)
		if err != nil || b != (Blob{id, 6, hello}) {
			t.Fatalf("%+v %v", b, err)
		}
	}
	if text := content(t, s, id); text != "hello " {
		t.Errorf("read %q", text)
	}
	var wrong *ChecksumError
	if _, err := s.Put(id, strings.NewReader("other"), hello); !errors.As(err, &wrong) {
		t.Errorf("other bytes: %v", err)
	}
	broken := errors.New("broken")
	if _, err := s.Put(id, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), ""); !errors.Is(err, broken) {
		t.Errorf("broken off: %v", err)
	}
	if text := content(t, s, id); text != "hello " {
		t.Errorf("a failed Put left %q", text)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "incoming")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for range 2 {
		if err := s.Remove(id); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{id, "", "../../../../etc/passwd", strings.Repeat("/", 32)} {
		if _, err := s.Open(bad); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("open %q: %v", bad, err)
		}
		if _, err := s.Put(bad, strings.NewReader(""), ""); bad != id && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("put %q: %v", bad, err)
		}
	}
}

func TestPutConcurrently(t *testing.T) {
	s, _ := open(t)
	var wait sync.WaitGroup
	ids := make([]string, 200)
	text := func(i int) string { return strings.Repeat(fmt.Sprint(i), i*20) }
	for i := range ids {
		ids[i] = NewID()
		wait.Go(func() {
			if _, err := s.Put(ids[i], strings.NewReader(text(i)), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for i, id := range ids {
		if content(t, s, id) != text(i) {
			t.Errorf("blob %d has other bytes", i)
		}
	}
}

func TestSweep(t *testing.T) {
	s, dir := open(t)
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

// Parts come in any order, again, too long, too short, and from another process.
func TestPutPart(t *testing.T) {
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
		id := NewID()
		const chunk = 1000
		content := rapid.SliceOfN(rapid.Byte(), 1, 5*chunk).Draw(rt, "content")
		part := func(n int) []byte { return content[n*chunk : min(len(content), (n+1)*chunk)] }
		put := func(n int, data []byte) (Blob, error) {
			return s.PutPart(id, int64(n*chunk), int64(len(part(n))), bytes.NewReader(data))
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
				if _, err := put(n, append(slices.Clone(part(n)), 0)); !errors.Is(err, ErrTooLong) {
					rt.Fatal("too long:", err)
				}
			case 1:
				if b, err := put(n, part(n)[1:]); err != nil || b.Size != int64(len(part(n))-1) {
					rt.Fatal("too short:", b, err)
				}
			case 2: // other bytes of the same part
				if _, err := put(n, make([]byte, len(part(n)))); err != nil {
					rt.Fatal(err)
				}
			case 3:
				s = open()
			}
			sum := md5.Sum(part(n))
			b, err := put(n, part(n))
			if err != nil || b.MD5 != hex.EncodeToString(sum[:]) {
				rt.Fatal(b, err)
			}
		}
		sum := md5.Sum(content)
		whole, err := s.Sum(id)
		if err != nil || whole != (Blob{id, int64(len(content)), hex.EncodeToString(sum[:])}) {
			rt.Fatal(whole, err)
		}
	})
}
