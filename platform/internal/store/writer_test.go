package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// Each of many concurrent changes is committed or undone by itself.
func TestConcurrentChanges(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "docs.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	insert := func(ctx context.Context, id string, then func() error) error {
		return s.Write(ctx, func(tx *Tx) error {
			if err := tx.Insert("things", Doc{"_id": id}); err != nil {
				return err
			}
			return then()
		})
	}
	fine := func() error { return nil }
	wrong := errors.New("wrong")
	const all = 100
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() {
			id := fmt.Sprint(i)
			var err error
			switch i % 4 {
			case 0:
				err = insert(t.Context(), id, fine)
			case 1:
				if err = insert(t.Context(), id, func() error { return wrong }); errors.Is(err, wrong) {
					err = nil
				}
			case 2:
				ctx, cancel := context.WithCancel(t.Context())
				if err = insert(ctx, id, func() error { cancel(); return nil }); errors.Is(err, context.Canceled) {
					err = nil
				}
			case 3:
				func() {
					defer func() {
						if v := recover(); v != any("panic "+id) {
							t.Errorf("recovered %v", v)
						}
					}()
					insert(t.Context(), id, func() error { panic("panic " + id) })
				}()
			}
			if err != nil {
				t.Error(i, err)
			}
		})
	}
	wait.Wait()
	var docs []Doc
	if err := s.Read(t.Context(), func(tx *Tx) (err error) {
		docs, err = tx.All("things", Query{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(docs) != all/4 {
		t.Errorf("%d are there", len(docs))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := insert(t.Context(), "late", fine); err == nil {
		t.Error("a closed store is written to")
	}
}
