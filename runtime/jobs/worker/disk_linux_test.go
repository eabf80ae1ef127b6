package worker_test

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/runtime/jobs/bundle"
	"transect/runtime/jobs/setting"
	"transect/testdata/jobstest"
)

// smallDisk is a folder on a disk of its own. It skips the test where none can be
// mounted.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("small", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("a small disk cannot be mounted here: that takes root")
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill leaves no room on a disk, and returns the file that takes it.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = io.CopyN(f, zeros{}, 4<<10)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return f.Name()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// While the disk of the database is full jobs wait; nothing of what they print is
// lost or repeated.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what takes seconds")
	}
	t.Parallel()
	disk := smallDisk(t, "4m")
	store := jobstest.Open(t, jobs.Config{StateDir: disk})
	said, finish := &transcript{}, filepath.Join(t.TempDir(), "finish")
	run(t, store, options(t.TempDir(), "here", slog.NewTextHandler(said, nil)))
	talks := submit(t, store, jobs.Spec{Script: "talk"}, finish)
	become(t, store, talks, func(j *jobs.Job) bool { return j.State == jobs.Running })
	filler := fill(t, disk)
	waitFor(t, func() bool { return strings.Contains(said.String(), "the database cannot be reached or written") })
	if !strings.Contains(said.String(), "no space left on device; make room") {
		t.Errorf("the cause is not said: %s", said)
	}
	_, err := store.Submit(t.Context(), jobs.Spec{Script: "exit", Args: []string{"0"}})
	if f := fault.Find(err); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(f.Facts().Hint, "make room") {
		t.Errorf("submitted on a full disk: %v", err)
	}
	time.Sleep(quick.Lease) // it has passed
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return strings.Contains(said.String(), "is available again") })
	touch(t, filepath.Dir(finish), "finish")
	if job := ended(t, store, talks); job.State != jobs.Done || !slices.Equal(attempts(t, store, talks), []string{"done"}) {
		t.Errorf("%+v, %v", job, attempts(t, store, talks))
	}
	inOrder(t, output(t, store, talks))
	id := submit(t, store, jobs.Spec{Script: "exit"}, "0")
	if job := ended(t, store, id); job.State != jobs.Done || id != talks+1 {
		t.Errorf("%+v", job)
	}
}

// A worker whose own disk is full tries a job again: another may have room.
func TestFullDiskOfScripts(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "64k")
	store := jobstest.Open(t, jobs.Config{StateDir: t.TempDir()})
	o := options(disk, "here", slog.DiscardHandler)
	if err := os.MkdirAll(filepath.Join(o.Folder, "scripts"), 0o700); err != nil {
		t.Fatal(err)
	}
	filler := fill(t, disk)
	packed, err := bundle.Make(bundle.Source{Script: jobstest.Script(t, t.TempDir(), "a.lua", "print(1)")})
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.PutBundle(t.Context(), packed)
	if err != nil {
		t.Fatal(err)
	}
	id := submit(t, store, jobs.Spec{Script: "a.lua", Bundle: key, Settings: setting.Settings{Retries: 1000}})
	run(t, store, o)
	become(t, store, id, func(j *jobs.Job) bool { return j.Tries > 0 })
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if job := ended(t, store, id); job.State != jobs.Done {
		t.Errorf("%+v", job)
	}
}
