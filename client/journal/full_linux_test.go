package journal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiskFull fills the disk of the journal in the middle of an
// upload: it is reported once and the run goes on. What fitted on the disk is known to
// the next run.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small file system here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	log, text := logged()
	j := New(dir, log)
	id := begin(j, "a", 9000)
	j.Confirm(to("a"), id, 1)
	full, err := os.Create(filepath.Join(dir, "full"))
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = full.Write(block)
	}
	_ = full.Close()
	for n := 2; n <= 9000; n++ {
		j.Confirm(to("a"), id, n)
	}
	j.Confirm(to("b"), begin(j, "b", 3), 1)
	if strings.Count(text.String(), "level=WARN") != 1 || !strings.Contains(text.String(), "going on without a journal") || !strings.Contains(text.String(), "free space") ||
		!strings.Contains(text.String(), `no space left`) {
		t.Errorf("log: %s", text)
	}
	if err := os.Remove(filepath.Join(dir, "full")); err != nil {
		t.Fatal(err)
	}
	log, text = logged()
	k := New(dir, log)
	known := done(k, "a")
	if len(known) == 0 || known[0] != 1 || text.Len() > 0 {
		t.Errorf("the next run: %d parts known, log: %s", len(known), text)
	}
	t.Logf("%d parts of 9000, confirmed on a full disk, are known to the next run", len(known))
	k.Confirm(to("a"), id, 9000)
	if got := done(k, "a"); got[len(got)-1] != 9000 {
		t.Error("the next run cannot write")
	}
}
