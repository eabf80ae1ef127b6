package faulttest

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"transect/client"
)

// TestSourceTroubles takes a file away, or writes to it, in the middle of its
// upload: that file fails with its reason, nothing of it is completed, all
// others go; and the next run brings it.
func TestSourceTroubles(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(path string) error
		want string
	}{
		"removed": {os.Remove, "disappeared after this run had found it"},
		"changed": {func(path string) error {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content[len(content)-1]++
			return errors.Join(os.Remove(path), os.WriteFile(path, content, 0o600))
		}, "changed while it was uploaded"},
		"truncated": {func(path string) error { return os.Truncate(path, 6<<20) }, "changed while it was uploaded"},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t, seedMission)
			folder, err := w.card()
			if err != nil {
				t.Fatal(err)
			}
			long := filepath.Join(folder, "long.bin")
			content, err := os.ReadFile(long)
			if err != nil {
				t.Fatal(err)
			}
			// It is a link to what other tests use as well.
			if err := errors.Join(os.Remove(long), os.WriteFile(long, content, 0o600)); err != nil {
				t.Fatal(err)
			}
			var once sync.Once
			w.proxy.plan = func(_ int, r *http.Request) fault {
				if strings.HasSuffix(r.URL.Path, "/get-upload-part-url") {
					once.Do(func() {
						if err := c.do(long); err != nil {
							t.Error(err)
						}
					})
				}
				return nil
			}
			_, err = takeIn(t.Context(), w)
			var item itemError
			if !errors.As(err, &item) || item.Name != "long.bin" || !strings.Contains(item.Cause, c.want) || item.Hint == "" {
				t.Fatalf("it ended with %v", err)
			}
			if name != "removed" {
				return
			}
			held := w.names(t)
			if len(held) != 5 || held["long.bin"] != "pending" || held["notes.txt"] != "completed" {
				t.Errorf("the platform holds %v", held)
			}
			w.proxy.heal()
			if err := os.WriteFile(long, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := takeIn(t.Context(), w); err != nil {
				t.Error(err)
			}
			if held := w.names(t); len(held) != 5 || held["long.bin"] != "completed" {
				t.Errorf("the platform holds %v", held)
			}
		})
	}
}

// started is a world for one test.
func started(t *testing.T, seed func(context.Context, *world) error) *world {
	t.Helper()
	w, err := newWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	if err := seed(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// names are the datasets that are there, and the states of their ingestion.
func (w *world) names(t *testing.T) map[string]string {
	t.Helper()
	c, err := w.direct(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]string{}
	for d, err := range c.Datasets.Search.All(t.Context(), client.DatasetQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if held[d.Name] != "" {
			t.Errorf("%s is there twice", d.Name)
		}
		held[d.Name] = d.Ingestion.Status
	}
	return held
}
