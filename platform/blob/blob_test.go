package blob

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestReceive(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.Receive(strings.NewReader("hello "), -1)
	if err != nil || one.Size != 6 || one.MD5 != "f814893777bcc2295fff05f00e508da6" {
		t.Fatalf("%+v %v", one, err)
	}
	two, err := s.Receive(strings.NewReader("world"), 5)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := s.Join([]string{one.ID, two.ID})
	if err != nil || whole.MD5 != "5eb63bbbe01eeed093cb22bb8f5acdc3" {
		t.Fatalf("%+v %v", whole, err)
	}
	f, err := s.Open(whole.ID)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(f)
	f.Close()
	if string(text) != "hello world" {
		t.Errorf("read %q", text)
	}
	if _, err := s.Receive(strings.NewReader("too long"), 3); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
	broken := errors.New("broken")
	if _, err := s.Receive(io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)), -1); !errors.Is(err, broken) {
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
	s, err := Open(dir)
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
