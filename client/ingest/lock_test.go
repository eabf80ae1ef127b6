package ingest

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"transect/client/fault"
)

// holding keeps a lock from being garbage-collected, which would release it.
var holding func()

// TestHoldLock is another process that holds a lock, if requested.
func TestHoldLock(t *testing.T) {
	state := os.Getenv("TRANSECT_TEST_HOLD")
	if state == "" {
		t.Skip("it holds a lock for other tests")
	}
	o := Options{StateDir: state}
	o.Source.Root = "/card"
	var err error
	if holding, err = lock(o, "http://there"); err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("locked\n")
	time.Sleep(time.Hour) // until killed; blocking without a timer would count as a deadlock
}

// TestLockOfAKilledProcess: the lock of a killed process is free, and no lock file is left.
func TestLockOfAKilledProcess(t *testing.T) {
	state := t.TempDir()
	holder := exec.Command(os.Args[0], "-test.run=^TestHoldLock$")
	holder.Env = append(os.Environ(), "TRANSECT_TEST_HOLD="+state)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("%q %v", line, err)
	}
	o := Options{StateDir: state}
	o.Source.Root = "/card"
	var locked *fault.LockedError
	if _, err := lock(o, "http://there"); !errors.As(err, &locked) {
		t.Fatalf("a lock that is held: %v", err)
	}
	other := o
	other.Source.Root = "/another card"
	unlock, err := lock(other, "http://there")
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	_ = holder.Process.Kill()
	_ = holder.Wait()
	if unlock, err = lock(o, "http://there"); err != nil {
		t.Fatal(err)
	}
	unlock()
	if paths, _ := filepath.Glob(filepath.Join(state, "locks", "*")); len(paths) != 0 {
		t.Errorf("left behind: %v", paths)
	}
}

// TestLockIsExclusive: however runs acquire and remove a lock file, only one at a time holds the lock.
func TestLockIsExclusive(t *testing.T) {
	o := Options{StateDir: t.TempDir()}
	o.Source.Root = "/card"
	var holders, most, times atomic.Int64
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 300 {
				unlock, err := lock(o, "http://there")
				var locked *fault.LockedError
				if errors.As(err, &locked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n > 1 {
					most.Store(n)
				}
				time.Sleep(time.Microsecond)
				times.Add(1)
				holders.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if most.Load() > 1 {
		t.Errorf("%d runs held the same lock", most.Load())
	}
	if times.Load() == 0 {
		t.Error("nobody ever held it")
	}
}

// TestLockOfListedFiles: files listed through a link to their folder are the same files.
func TestLockOfListedFiles(t *testing.T) {
	dir := t.TempDir()
	card, link := filepath.Join(dir, "card"), filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(card, 0o700), os.Symlink(card, link)); err != nil {
		t.Fatal(err)
	}
	listed := func(folder, name string) Options {
		o := Options{StateDir: filepath.Join(dir, "state")}
		o.Source.Paths = []string{filepath.Join(folder, "a.jpg"), filepath.Join(folder, name)}
		return o
	}
	unlock, err := lock(listed(card, "b.jpg"), "http://there")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := lock(listed(link, "b.jpg"), "http://there"); fault.Find(err) == nil {
		t.Errorf("through a link: %v", err)
	}
	if other, err := lock(listed(card, "c.jpg"), "http://there"); err != nil {
		t.Errorf("other files: %v", err)
	} else {
		other()
	}
}
