package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"transect/client/atomicfile"
)

func start(t *testing.T, dir, name, text string) *atomicfile.File {
	t.Helper()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Create(folder, name, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return f
}

// Of several that write a new file, one does, whatever they saw before.
func TestANewFileIsWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	files := make([]*atomicfile.File, 8)
	for i := range files {
		files[i] = start(t, dir, "a.txt", strconv.Itoa(i))
		files[i].New = true
	}
	var all sync.WaitGroup
	var wrote atomic.Int64
	wrote.Store(-1)
	for i, f := range files {
		all.Go(func() {
			defer f.Discard()
			if err := f.Commit(); err == nil && !wrote.CompareAndSwap(-1, int64(i)) {
				t.Error("two wrote it")
			} else if err != nil && !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(filepath.Join(dir, "a.txt"))
	if left, _ := os.ReadDir(dir); err != nil || string(text) != strconv.FormatInt(wrote.Load(), 10) || len(left) != 1 {
		t.Errorf("%s, %v, %v; %d wrote it", text, err, left, wrote.Load())
	}
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
	f.Discard() // no effect any more
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
	if _, err := atomicfile.Create(folder, "maps", 0o644); err == nil {
		t.Error("a folder was taken for a file")
	}
}

func TestWriteReplacesContentOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.prom")
	if err := atomicfile.Write(path, []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm()&0o044 == 0 {
		t.Errorf("a new file has mode %v", info.Mode())
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if os.Symlink("x.prom", link) == nil {
		path = link
	}
	if err := atomicfile.WriteUnsynced(path, []byte("22"), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "x.prom"))
	info, _ := os.Stat(filepath.Join(dir, "x.prom"))
	if err != nil || string(text) != "22" || info.Mode().Perm()&0o044 != 0 {
		t.Errorf("%q, %v, %v", text, info.Mode(), err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "nowhere", "x"), nil, 0o644); err == nil {
		t.Error("there is no such folder")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".transect-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
