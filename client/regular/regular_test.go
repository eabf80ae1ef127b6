package regular

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.lua"), filepath.Join(dir, "link.lua")
	if err := errors.Join(os.WriteFile(file, []byte("12345"), 0o600), os.Symlink("a.lua", link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if text, err := Read(path, 5); err != nil || string(text) != "12345" {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
	if _, err := Read(file, 4); err == nil {
		t.Error("a file that is too large is read")
	}
	for _, path := range []string{dir, os.DevNull} {
		if _, err := Read(path, 5); !errors.Is(err, ErrOther) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
