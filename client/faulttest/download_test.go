package faulttest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"transect/client"
)

// bulk is a file that is fetched in several ranges at a time.
var bulk = sync.OnceValues(func() (string, error) {
	folder, err := temporary()
	if err != nil {
		return "", err
	}
	content := make([]byte, 33<<20)
	for i := 0; i < len(content); i += 512 {
		content[i], content[i+1] = byte(i>>9), byte(i>>17)
	}
	path := filepath.Join(folder, "bulk.bin")
	return path, os.WriteFile(path, content, 0o600)
})

// fetchBulk is the third reference workflow: a large file is looked up and
// fetched, in ranges.
func fetchBulk(ctx context.Context, w *world) ([]string, error) {
	s, err := w.connect(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{Filter: client.Filter{"name": is("bulk")}}})
	if err != nil {
		return nil, err
	}
	path, err := s.Datasets.DownloadComponent(ctx, client.DownloadComponent{Dataset: client.ID(found.Results[0].ID), Component: "file",
		TargetPath: client.Path(filepath.Join(s.disk, "out")), Overwrite: true})
	if err != nil {
		if left, _ := os.ReadDir(filepath.Join(s.disk, "out")); len(left) > 0 && left[0].Name() == "bulk.bin" {
			return nil, fmt.Errorf("a file that is not complete has its name: %w", err)
		}
		return nil, err
	}
	content, err := os.ReadFile(string(path))
	left, _ := os.ReadDir(filepath.Join(s.disk, "out"))
	return []string{fmt.Sprintf("%s %d %x, %d files", filepath.Base(string(path)), len(content), checksum(content), len(left))}, err
}

func seedBulk(ctx context.Context, w *world) error {
	c, err := w.direct(ctx)
	if err != nil {
		return err
	}
	path, err := bulk()
	if err != nil {
		return err
	}
	d, err := c.Datasets.CreateFileDataset(ctx, client.CreateFileDataset{DatasetCommon: client.DatasetCommon{Name: "bulk", Company: client.ID(w.platform.Credentials().Company)}})
	if err != nil {
		return err
	}
	whole := false
	_, err = c.Datasets.UploadFile(ctx, client.UploadFile{Dataset: client.ID(d.ID), Component: "file", FilePath: client.Path(path), Multipart: &whole})
	return err
}

func TestDownload(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it moves tens of megabytes")
	}
	matrix(t, 4, seedBulk, fetchBulk)
}

// An answer without a length that ends in its middle looks complete.
func TestHalfADownload(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it moves tens of megabytes")
	}
	s := &suite{t: t, seed: seedBulk, run: fetchBulk, record: newRecord(t)}
	s.want = s.play("whole", nil)
	s.compare("half", s.play("half", func(w *world) error {
		w.proxy.plan = func(_ int, r *http.Request) fault {
			if r.Method == http.MethodGet && r.Header.Get("Range") == "" {
				return half
			}
			return nil
		}
		return nil
	}))
}

// A bit that changes on the way, through the platform or in a range of a large
// file, is never kept: no checksum is given, the component's is asked for.
func TestFlippedBits(t *testing.T) {
	w, err := newWorld()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if err := seedBulk(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	s, err := w.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Datasets.Search.Page(t.Context(), client.DatasetQuery{Query: client.Query{Filter: client.Filter{"name": is("bulk")}}})
	if err != nil {
		t.Fatal(err)
	}
	path, _ := bulk()
	content, _ := os.ReadFile(path)
	for name, c := range map[string]struct{ from, to int }{"the first answer": {0, 1}, "a later range": {1, 2}, "the first two copies": {0, 99}} {
		downloads := 0
		w.proxy.mu.Lock()
		w.proxy.plan = func(_ int, r *http.Request) fault {
			if r.URL.Path != "/data-manager/download-component" {
				return nil
			}
			if downloads++; downloads > c.from && downloads <= c.to {
				return flip
			}
			return nil
		}
		w.proxy.mu.Unlock()
		out := t.TempDir()
		got, err := s.Datasets.DownloadComponent(t.Context(), client.DownloadComponent{Dataset: client.ID(found.Results[0].ID), Component: "file",
			TargetPath: client.Path(out)})
		left, _ := os.ReadDir(out)
		switch {
		case c.to == 99:
			if err == nil || len(left) != 0 {
				t.Errorf("%s: %v, %d files left", name, err, len(left))
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			if b, _ := os.ReadFile(string(got)); !bytes.Equal(b, content) || len(left) != 1 {
				t.Errorf("%s: the file is another one, %d files", name, len(left))
			}
		}
	}
}
