package atomicfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"transect/stdlib/atomicfile"
)

func start(t *testing.T, dir, name, text string) *atomicfile.File {
	t.Helper()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Create(folder, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAFileIsThereWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	is := func(want string) {
		t.Helper()
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f := start(t, dir, "a.txt", "new")
	is("old")
	f.Discard()
	is("old")
	f = start(t, dir, "a.txt", "new")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Discard() // too late to matter
	is("new")
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the permissions became %v", info.Mode())
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAFolderIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "maps"), 0o755); err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := atomicfile.Create(folder, "maps"); err == nil {
		t.Error("a folder was taken for a file")
	}
}
