package platform

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// filesIn counts the files below a folder of the platform.
func (s *site) filesIn(folder string) (n int) {
	s.t.Helper()
	if err := filepath.WalkDir(filepath.Join(s.p.Dir(), folder), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Deleted datasets can be restored for a time, then their bytes are gone; so are
// blobs nothing refers to and pieces of uploads that broke off. What is in use or
// young stays.
func TestSweep(t *testing.T) {
	now := time.Now()
	s := inside(t, Options{Now: func() time.Time { return now }})
	sweep := func() { t.Helper(); s.p.sweep(t.Context(), time.Now().Add(time.Hour)) }
	upload := func(text string) (id string) {
		id = s.dataset("file", store.Doc{"company": s.company}, "file")
		s.upload(id, "file", "a.txt", []byte(text))
		return id
	}
	kept, deleted, restored := upload("kept"), upload("deleted"), upload("restored")
	s.ok("data-manager/delete-datasets", store.Doc{"datasets": []any{deleted, restored}})
	begun := s.dataset("file", store.Doc{"company": s.company}, "file")
	s.ok("data-manager/init-upload-component", store.Doc{"dataset": begun, "component": "file", "filename": "a", "checksum": sum(nil)})
	if _, err := s.p.blobs.Put(blob.NewID(), strings.NewReader("nothing refers to it"), ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.p.Dir(), "incoming", "broken-off"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}

	s.p.sweep(t.Context(), time.Now())
	if blobs, pieces := s.filesIn("blobs"), s.filesIn("incoming"); blobs != 4 || pieces != 1 {
		t.Errorf("what is young was removed: %d blobs, %d pieces", blobs, pieces)
	}
	now = now.Add(6 * 24 * time.Hour)
	s = logIn(t, s.p, s.base, s.http)
	sweep()
	if blobs, pieces := s.filesIn("blobs"), s.filesIn("incoming"); blobs != 3 || pieces != 0 {
		t.Errorf("after six days: %d blobs, %d pieces", blobs, pieces)
	}
	s.ok("data-manager/restore-datasets", store.Doc{"datasets": []any{restored}})
	now = now.Add(2 * 24 * time.Hour)
	s = logIn(t, s.p, s.base, s.http)
	sweep()
	if blobs := s.filesIn("blobs"); blobs != 2 {
		t.Errorf("after eight days: %d blobs", blobs)
	}
	if a := s.post("data-manager/restore-datasets", store.Doc{"datasets": []any{deleted}}); a.status != 404 {
		t.Errorf("restored after its time: %d %s", a.status, a.text)
	}
	for _, id := range []string{kept, restored, begun} {
		s.ok("data-manager/describe-dataset", store.Doc{"dataset": id})
	}
}
