package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"transect/client/schema"
)

func TestIDsAscend(t *testing.T) {
	var ids IDs
	last := ""
	for range 1000 {
		id := ids.Next(time0) // a clock that stands still
		if !schema.IsID(id) || id <= last {
			t.Fatalf("%q after %q", id, last)
		}
		last = id
	}
	for _, s := range []string{"", last[1:], strings.ToUpper("a" + last[1:]), "g" + last[1:]} {
		if schema.IsID(s) {
			t.Errorf("%q is taken for an identifier", s)
		}
	}
}

func TestProjection(t *testing.T) {
	doc, err := Decode([]byte(`{"_id": "1", "a": {"b": 1, "c": {"d": 2}}, "l": [{"x": 1, "y": 2}, {"y": 3}, 4], "z": null}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		p    Projection
		want string
	}{
		{Projection{}, `{"_id": "1", "a": {"b": 1, "c": {"d": 2}}, "l": [{"x": 1, "y": 2}, {"y": 3}, 4], "z": null}`},
		{Projection{Include: []string{}}, `{"_id": "1"}`},
		{Projection{Include: []string{"z", "nothing", "a.b.c"}}, `{"_id": "1", "z": null, "a": {}}`},
		{Projection{Include: []string{"a.c", "a.c.d", "l.x"}}, `{"_id": "1", "a": {"c": {"d": 2}}, "l": [{"x": 1}, {}]}`},
		{Projection{Include: []string{"a.b", "a"}}, `{"_id": "1", "a": {"b": 1, "c": {"d": 2}}}`},
		{Projection{Exclude: []string{"_id", "a.c", "l.y"}}, `{"_id": "1", "a": {"b": 1}, "l": [{"x": 1}, {}, 4], "z": null}`},
	} {
		got, err := encode(c.p.Apply(doc))
		if err != nil {
			t.Fatal(err)
		}
		var g, w any
		json.Unmarshal(got, &g)
		json.Unmarshal([]byte(c.want), &w)
		if d := cmp.Diff(w, g); d != "" {
			t.Errorf("%+v: %s", c.p, d)
		}
	}
}

func TestSortAndReplace(t *testing.T) {
	s := openTest(t)
	ctx := context.Background()
	err := s.Write(ctx, func(tx *Tx) error {
		for i, name := range []string{"b", "a", "b"} {
			if err := tx.Insert("things", Doc{"_id": fmt.Sprint(i), "name": name, "size": Doc{"n": i}}); err != nil {
				return err
			}
		}
		return tx.Replace("things", Doc{"_id": "1", "name": "c", "size": Doc{"n": 1}})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keys []SortKey
		want string
	}{
		{nil, "0 1 2"},
		{[]SortKey{{Key: "_id", Descending: true}}, "2 1 0"},
		{[]SortKey{{Key: "name"}}, "0 2 1"},
		{[]SortKey{{Key: "name", Descending: true}, {Key: "size.n", Descending: true}}, "1 2 0"},
	} {
		var ids []string
		if err := s.Read(ctx, func(tx *Tx) error {
			page, err := tx.Search("things", Query{Sort: c.keys, Limit: 10})
			for _, raw := range page.Results {
				doc, _ := Decode(raw)
				ids = append(ids, doc["_id"].(string))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.keys, got, c.want)
		}
	}
	if err := s.Read(ctx, func(tx *Tx) error { return tx.Insert("things", Doc{"_id": "9"}) }); err == nil {
		t.Error("a reading transaction writes")
	}
	var q *QueryError
	err = s.Write(ctx, func(tx *Tx) error { return tx.Insert("things", Doc{"_id": "9", "name": []any{"x"}}) })
	if !errors.As(err, &q) {
		t.Errorf("a list where a column is: %v", err)
	}
	for what, err := range map[string]error{
		"replace": s.Write(ctx, func(tx *Tx) error { return tx.Replace("things", Doc{"_id": "9"}) }),
		"remove":  s.Write(ctx, func(tx *Tx) error { return tx.Remove("things", "9") }),
		"get":     s.Read(ctx, func(tx *Tx) error { _, err := tx.Get("things", "9"); return err }),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestConcurrentWriters counts up in one document from two stores at once.
func TestConcurrentWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.db")
	const each = 100
	var all sync.WaitGroup
	var stores []*Store
	for range 2 {
		s, err := Open(t.Context(), path, Options{Fill: func(tx *Tx) error { return tx.Insert("counters", Doc{"_id": "c", "n": 0}) }})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	for _, s := range stores {
		all.Go(func() {
			for range each {
				if err := s.Write(t.Context(), func(tx *Tx) error {
					doc, err := tx.Get("counters", "c")
					if err != nil {
						return err
					}
					n, _ := doc["n"].(json.Number).Int64()
					doc["n"] = n + 1
					return tx.Replace("counters", doc)
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := stores[0].Read(t.Context(), func(tx *Tx) error {
		doc, err := tx.Get("counters", "c")
		if err == nil && doc["n"] != json.Number(fmt.Sprint(2*each)) {
			t.Errorf("counted to %v", doc["n"])
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestFullDisk(t *testing.T) {
	s := openTest(t)
	// As many pages as the file has are what a full disk leaves.
	if err := s.Write(t.Context(), func(tx *Tx) error { return tx.Exec("PRAGMA max_page_count = 1") }); err != nil {
		t.Fatal(err)
	}
	err := s.Write(t.Context(), func(tx *Tx) error {
		return tx.Insert("things", Doc{"_id": "a", "text": strings.Repeat("x", 1<<20)})
	})
	if !IsFull(err) {
		t.Errorf("got %v, want the error of a full disk", err)
	}
	if err := s.Write(t.Context(), func(tx *Tx) error { return tx.Insert("things", Doc{"_id": "b"}) }); err != nil && !IsFull(err) {
		t.Errorf("afterwards: %v", err)
	}
}

// A statement within the rows of another, a cancelled transaction, a closed store.
func TestTransactions(t *testing.T) {
	s := openTest(t)
	count := func(tx *Tx) (n int) {
		if err := tx.QueryRow("SELECT count(*) FROM docs WHERE collection = ?", "things").Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	for i := range 3 {
		if err := s.Write(t.Context(), func(tx *Tx) error { return tx.Insert("things", Doc{"_id": strings.Repeat("a", i+1)}) }); err != nil {
			t.Fatal(err)
		}
	}
	// One that fails leaves nothing behind.
	if err := s.Write(t.Context(), func(tx *Tx) error { return tx.Insert("things", Doc{"_id": "a"}) }); err == nil {
		t.Error("the same id was taken twice")
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Write(ctx, func(tx *Tx) error {
		if err := tx.Insert("things", Doc{"_id": "cancelled"}); err != nil {
			return err
		}
		cancel()
		_ = tx.Insert("things", Doc{"_id": "after"})
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := s.Write(t.Context(), func(tx *Tx) error {
		rows, err := tx.Query("SELECT id FROM docs WHERE collection = ?", "things")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if n := count(tx); n != 3 {
				t.Errorf("%d documents, want 3", n)
			}
		}
		return rows.Err()
	}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Read(t.Context(), func(*Tx) error { return nil }); err == nil {
		t.Error("a closed store is read")
	}
}

// The database and its companions are for their owner alone, in any folder.
func TestPrivateFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "platform.db")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(path, nil, 0o644), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // also when it exists
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{path, path + "-wal", path + "-shm"} {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v %v", name, info.Mode(), err)
			}
			os.Chmod(name, 0o644)
		}
		s.Close()
	}
}
