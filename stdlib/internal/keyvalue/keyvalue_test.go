package keyvalue_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"transect/client/fault"
	"transect/stdlib/internal/keyvalue"
)

func opened(t *testing.T, path string) *keyvalue.Store {
	t.Helper()
	s, err := keyvalue.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Several stores on one file, as several processes have them, never lose a
// change.
func TestNoChangeIsLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	const stores, times = 4, 25
	var wait sync.WaitGroup
	for range stores {
		s := opened(t, path)
		wait.Go(func() {
			for range times {
				for {
					old, err := s.Get(t.Context(), "a", "n", 0)
					if err != nil {
						t.Error(err)
						return
					}
					n := 0
					if old != nil {
						n, _ = strconv.Atoi(old.Text)
					}
					done, err := s.Replace(t.Context(), "a", "n", old, &keyvalue.Entry{Text: strconv.Itoa(n + 1)}, 0)
					if err != nil {
						t.Error(err)
						return
					}
					if done {
						break
					}
				}
			}
		})
	}
	wait.Wait()
	if e, err := opened(t, path).Get(t.Context(), "a", "n", 0); err != nil || e == nil || e.Text != strconv.Itoa(stores*times) {
		t.Error(e, err)
	}
}

func TestValuesGoWhenTheirTimeIsUp(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "state.db"))
	if done, err := s.Replace(t.Context(), "a", "k", nil, &keyvalue.Entry{Text: "1", Expires: 110}, 100); !done || err != nil {
		t.Fatal(done, err)
	}
	e, err := s.Get(t.Context(), "a", "k", 104)
	if err != nil || e == nil || e.Expires != 110 {
		t.Error(e, err)
	}
	if e, err := s.Get(t.Context(), "b", "k", 104); e != nil || err != nil {
		t.Error("seen from another namespace:", e, err)
	}
	if e, err := s.Get(t.Context(), "a", "k", 110); e != nil || err != nil {
		t.Error("still there:", e, err)
	}
	if keys, err := s.Keys(t.Context(), "a", "", 110); len(keys) != 0 || err != nil {
		t.Error(keys, err)
	}
	if n, err := s.Clear(t.Context(), "a", "", 110); n != 0 || err != nil {
		t.Error("what is gone was counted:", n, err)
	}
}

func TestWhatIsNoDatabaseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, []byte("a diary"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := keyvalue.Open(t.Context(), path)
	if f := fault.Find(err); f == nil || f.Name() != "FileError" || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "a diary" {
		t.Error("it was changed")
	}
}

func TestACancelledCallSaysSo(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "state.db"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(ctx, "a", "k", 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
