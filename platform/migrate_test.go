package platform

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"transect/platform/store"
)

// A folder of an earlier version, with small blobs packed into one file, opens:
// completed components and uploads in progress keep their bytes.
func TestPackedBlobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	s := start(t, Options{Dir: dir})
	done := s.dataset("file", store.Doc{"company": s.company}, "file")
	s.upload(done, "file", "a", []byte("text"))
	s.until("data-manager/describe-dataset", store.Doc{"dataset": done}, "ingestion.status", "completed")
	begun := s.dataset("file", store.Doc{"company": s.company}, "file")
	ref := store.Doc{"dataset": begun, "component": "file"}
	s.put(s.ok("data-manager/init-upload-component", store.Doc{"dataset": begun, "component": "file", "filename": "a", "checksum": sum([]byte("text"))}), []byte("text"))
	if err := s.p.store.Write(t.Context(), func(tx *store.Tx) error {
		const name = "5acc87167f021a2def29e9aab53c06d3"
		for i, table := range []string{"components", "parts"} {
			id := fmt.Sprintf("%s.%x.4.%08x", name, i*4096, crc32.Checksum([]byte("text"), crc32.MakeTable(crc32.Castagnoli)))
			if err := tx.Exec("UPDATE "+table+" SET blob = ?", id); err != nil {
				return err
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "packs"), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "packs", name), append(append([]byte("text"), make([]byte, 4092)...), "text"...), 0o600)
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "blobs")); err != nil {
		t.Fatal(err)
	}
	now := start(t, Options{Dir: dir})
	now.ok("data-manager/complete-upload-component", ref)
	for _, id := range []string{done, begun} {
		if a := now.get("/data-manager/download-component?dataset=" + id + "&component=file"); a.text != "text" {
			t.Errorf("%s: %d %s", id, a.status, a.text)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "packs")); !os.IsNotExist(err) {
		t.Errorf("packs: %v", err)
	}
}
