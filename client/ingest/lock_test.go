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

// locked is the one lock file of a state folder.
func locked(t *testing.T, state string) string {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(state, "locks", "*"))
	if len(paths) != 1 {
		t.Fatalf("locks: %v", paths)
	}
	return paths[0]
}

// holding keeps a lock from being collected as garbage, which frees it.
var holding func()

// TestHoldLock is another process that holds a lock, when it is asked to be.
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
	os.Stdout.WriteString("held\n")
	time.Sleep(time.Hour) // until it is killed; nothing to wait for would end it as a deadlock
}

// An old lock is removed once its process is dead, and not before.
func TestPruneLocks(t *testing.T) {
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
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q %v", line, err)
	}
	path := locked(t, state)
	old := time.Now().Add(-2 * keptLocks)
	age := func(path string) {
		t.Helper()
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	age(path)
	o := Options{StateDir: state}
	o.Source.Root = "/card"
	var taken *fault.LockedError
	if _, err := lock(o, "http://there"); !errors.As(err, &taken) {
		t.Fatalf("a held lock: %v", err)
	}
	// A run of something else prunes.
	other := o
	other.Source.Root = "/another card"
	prune := func() {
		t.Helper()
		unlock, err := lock(other, "http://there")
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	}
	prune()
	if !exists(path) {
		t.Fatal("a lock was removed that is held")
	}
	_ = holder.Process.Kill()
	_ = holder.Wait()
	prune()
	if exists(path) {
		t.Error("an old lock that nobody holds is still there")
	}
	age(locked(t, state))
	prune() // its own
	if info, err := os.Stat(locked(t, state)); err != nil || !info.ModTime().After(old) {
		t.Errorf("a lock in use looks old: %v", err)
	}
}

// However locks are taken and pruned at once, one run at a time holds one.
func TestLocksPrunedMeanwhile(t *testing.T) {
	o := Options{StateDir: t.TempDir()}
	o.Source.Root = "/card"
	var holders, most, times atomic.Int64
	var all, pruners sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		pruners.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					pruneLocks(filepath.Join(o.StateDir, "locks"), time.Now().Add(time.Hour))
				}
			}
		})
	}
	for range 4 {
		all.Go(func() {
			for range 150 {
				unlock, err := lock(o, "http://there")
				var taken *fault.LockedError
				if errors.As(err, &taken) {
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
	close(done)
	pruners.Wait()
	if most.Load() > 1 {
		t.Errorf("%d runs held the same lock", most.Load())
	}
	if times.Load() == 0 {
		t.Error("nobody ever held it")
	}
}
