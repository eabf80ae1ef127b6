package faulttest

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	clientfault "transect/client/fault"
)

// TestFullStateFolder has no room for the journal and for the outcomes: the run
// says so, and goes on from there once there is some.
func TestFullStateFolder(t *testing.T) {
	w := started(t, seedMission)
	state := filepath.Join(w.disk, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", state, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	defer syscall.Unmount(state, syscall.MNT_DETACH)
	filler := filepath.Join(state, "filler")
	_ = os.WriteFile(filler, bytes.Repeat([]byte("x"), 1<<20), 0o600) // as much as there is room for
	_, err := takeIn(t.Context(), w)
	f := clientfault.Find(err)
	if f == nil || f.Name() != "FileError" || f.Facts().Hint == "" {
		t.Fatalf("it ended with %v", err)
	}
	t.Logf("%v (%s)", err, f.Facts().Hint)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := takeIn(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	for name, status := range w.names(t) {
		if status != "completed" {
			t.Errorf("%s is %s", name, status)
		}
	}
}
