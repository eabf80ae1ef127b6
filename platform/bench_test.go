package platform

import (
	"fmt"
	"path/filepath"
	"testing"

	"transect/platform/internal/store"
)

// BenchmarkOpen opens a folder that is there.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "p")
	for b.Loop() {
		p, err := Open(b.Context(), Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.Close()
		b.StartTimer()
	}
}

// BenchmarkCreateDataset creates datasets one request each.
func BenchmarkCreateDataset(b *testing.B) {
	s := inside(b, Options{})
	project := s.project("p")
	for b.Loop() {
		s.dataset("image", store.Doc{"project": project}, "image")
	}
}

// BenchmarkSearch asks for a page of 100 of 100,000 datasets.
func BenchmarkSearch(b *testing.B) {
	s := inside(b, Options{})
	project := s.project("p")
	const all = 100_000
	var middle string
	if err := s.p.store.Write(b.Context(), func(tx *store.Tx) error {
		for i := range all {
			id := s.p.ids.Next(s.p.options.Now())
			if i == all/2 {
				middle = id
			}
			doc := store.Doc{"_id": id, "name": fmt.Sprintf("DJI_%05d.JPG", i), "type": "image", "project": project,
				"company": s.company, "ingestion": store.Doc{"status": "completed"}, "creation_date": date(s.p.options.Now()),
				"properties": store.Doc{"number": i}, "components": []any{store.Doc{"name": "image", "status": "completed", "size": 5_000_000}}}
			if err := tx.Insert(datasets.plural, doc); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	for name, body := range map[string]store.Doc{
		"first page":   {"filter": store.Doc{"project": project}, "limit": 100},
		"middle page":  {"filter": store.Doc{"project": project}, "limit": 100, "page": all / 200},
		"keyset":       {"filter": store.Doc{"project": project, "_id": store.Doc{"$lt": middle}}, "sort": store.Doc{"_id": -1}, "limit": 100},
		"by name":      {"filter": store.Doc{"name": "DJI_77777.JPG"}, "limit": 100},
		"by property":  {"filter": store.Doc{"properties.number": 77777}, "limit": 100},
		"by component": {"filter": store.Doc{"components.name": "absent"}, "limit": 100},
		"substring":    {"filter": store.Doc{"name": store.Doc{"$match": "77777"}}, "limit": 100},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.ok("data-manager/search-datasets", body)
			}
		})
	}
}
