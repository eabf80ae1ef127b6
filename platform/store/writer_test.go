package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// Changes that share a transaction are kept or not each for itself.
func TestChangesShare(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "docs.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var mu sync.Mutex
	transactions := map[*sql.Tx]bool{}
	insert := func(ctx context.Context, id string, then func() error) error {
		return s.Write(ctx, func(tx *Tx) error {
			mu.Lock()
			transactions[tx.tx] = true
			mu.Unlock()
			if err := tx.Insert("things", Doc{"_id": id}); err != nil {
				return err
			}
			return then()
		})
	}
	fine := func() error { return nil }
	wrong := errors.New("wrong")
	const all = 100
	var wait, waiting sync.WaitGroup
	held, gate := make(chan struct{}), make(chan struct{})
	wait.Go(func() { insert(t.Context(), "gate", func() error { close(held); <-gate; return nil }) })
	<-held // from here on, all others wait for it
	for i := range all {
		waiting.Add(1)
		wait.Go(func() {
			id := fmt.Sprint(i)
			var err error
			waiting.Done()
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
	waiting.Wait()
	for range 1000 {
		runtime.Gosched() // most of them wait now
	}
	close(gate)
	wait.Wait()
	var docs []Doc
	if err := s.Read(t.Context(), func(tx *Tx) (err error) {
		docs, err = tx.All("things", nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(docs) != 1+all/4 {
		t.Errorf("%d are there", len(docs))
	}
	if n := len(transactions); n > all/2 {
		t.Errorf("%d transactions for %d changes", n, all)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := insert(t.Context(), "late", fine); !errors.Is(err, errClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// When the whole transaction fails, each change that shares it does.
func TestSharedTransactionFails(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "docs.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	held, gate := make(chan struct{}), make(chan struct{})
	broken := errors.New("broken")
	results := make(chan error, 1)
	go func() {
		results <- s.Write(t.Context(), func(tx *Tx) error {
			close(held)
			<-gate
			return tx.Insert("things", Doc{"_id": "before"})
		})
	}()
	<-held
	second := make(chan error, 1)
	go func() {
		second <- s.Write(t.Context(), func(tx *Tx) error {
			if _, err := tx.tx.Exec("ROLLBACK"); err != nil { // as a full disk does
				return err
			}
			return broken
		})
	}()
	for range 1000 {
		runtime.Gosched()
	}
	close(gate)
	first, then := <-results, <-second
	if !errors.Is(then, broken) {
		t.Errorf("got %v", then)
	}
	var there Doc
	s.Read(t.Context(), func(tx *Tx) (err error) {
		there, err = tx.Get("things", "before")
		return err
	})
	if (first == nil) != (there != nil) {
		t.Errorf("the one before got %v, and is there: %v", first, there != nil)
	}
	if err := s.Write(t.Context(), func(tx *Tx) error { return tx.Insert("things", Doc{"_id": "after"}) }); err != nil {
		t.Errorf("the next one: %v", err)
	}
}
