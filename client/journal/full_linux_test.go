package journal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiskFullWhileNoting fills the disk of the journal in the middle of an
// upload: it is told once, the run goes on and remembers by itself. What fitted
// on the disk is known to the next run, and nothing that was not confirmed.
func TestDiskFullWhileNoting(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small file system here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	log, text := logged()
	j := New(dir, Limits{}, log)
	e := j.Open(fileOf("a", 9000), placeNamed("a"), chunk)
	e.Start(whole)
	e.Confirm(1)
	flush(j)
	full, err := os.Create(filepath.Join(dir, "full"))
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = full.Write(block)
	}
	_ = full.Close()
	for n := 2; n <= 9000; n++ {
		if e.Confirm(n); !e.Done(n) {
			t.Fatalf("the run itself forgets part %d", n)
		}
	}
	flush(j)
	b := j.Open(fileOf("b", 3), placeNamed("b"), chunk)
	b.Forget()
	b.Start(whole)
	if b.Confirm(1); !b.Done(1) {
		t.Error("the run itself forgets another file")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if strings.Count(text.String(), "level=WARN") != 1 || !strings.Contains(text.String(), "going on without a journal") || !strings.Contains(text.String(), "free space") ||
		!strings.Contains(text.String(), `reason="the disk is full"`) {
		t.Errorf("told: %s", text)
	}
	if err := os.Remove(filepath.Join(dir, "full")); err != nil {
		t.Fatal(err)
	}
	log, text = logged()
	k := open(t, dir, log)
	again := k.Open(fileOf("a", 9000), placeNamed("a"), chunk)
	known := 0
	for n := 1; n <= 9000; n++ {
		if again.Done(n) {
			known++
		}
	}
	if !again.Started(whole) || !again.Done(1) || again.Done(9001) || text.Len() > 0 {
		t.Errorf("the next run: begun %v, %d parts known, told: %s", again.Started(whole), known, text)
	}
	t.Logf("%d parts of 9000, confirmed on a full disk, are known to the next run", known)
	again.Confirm(9000)
	if e := k.Open(fileOf("a", 9000), placeNamed("a"), chunk); !e.Done(9000) {
		t.Error("the next run cannot note")
	}
}
