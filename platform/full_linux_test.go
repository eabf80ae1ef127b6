package platform

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"transect/platform/internal/store"
)

// An upload that fills the disk is answered 507, leaves nothing behind, and
// succeeds once there is room.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	dir := filepath.Join(disk, "p")
	s := start(t, Options{Dir: dir})
	id := s.dataset("file", store.Doc{"company": s.company}, "file")
	content := noise(10 << 20)
	signed := s.ok("data-manager/init-upload-component", store.Doc{"dataset": id, "component": "file", "filename": "a", "checksum": sum(content)})
	a := s.put(signed, content)
	s.expect(a, 507, dir)
	if !strings.Contains(a.text, "free some space") {
		t.Errorf("no next step: %s", a.text)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "incoming", "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT, "size=32m"); err != nil {
		t.Skip(err)
	}
	if a := s.put(signed, content); a.status != 200 {
		t.Errorf("with room: %d %s", a.status, a.text)
	}
	s.ok("data-manager/complete-upload-component", store.Doc{"dataset": id, "component": "file"})
}
