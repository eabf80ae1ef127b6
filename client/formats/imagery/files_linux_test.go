package imagery

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"transect/client/files"
)

// TestFilesOfOtherKinds: a pipe or device named like a photo is a problem, found before opening it.
func TestFilesOfOtherKinds(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("a.jpg"), []byte("x"), 0o600), os.Symlink("a.jpg", at("b.jpg")),
		syscall.Mkfifo(at("pipe.jpg"), 0o600), os.Symlink("/dev/zero", at("zero.jpg"))); err != nil {
		t.Fatal(err)
	}
	paths, problems, err := Files(t.Context(), files.Tree{}, dir, false)
	if err != nil || len(paths) != 2 || len(problems) != 2 {
		t.Error(paths, problems, err)
	}
}
