package platform

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/platform/internal/store"
)

// A deletion ends the job of a dataset, the next start of the platform leaves it alone,
// and a restored dataset is ingested.
func TestJobsOfDeletedDatasets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "platform")
	s := start(t, Options{Dir: dir, IngestDelay: time.Hour})
	project := s.project("survey")
	id := s.dataset("raster", store.Doc{"project": project}, "raster")
	s.upload(id, "raster", "survey.tif", survey31(nil))
	running := func() int {
		s.p.workers.mu.Lock()
		defer s.p.workers.mu.Unlock()
		return len(s.p.workers.running)
	}
	wait := func(jobs int) {
		t.Helper()
		for range 1000 {
			if running() == jobs {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%d jobs run, not %d", running(), jobs)
	}
	wait(1)
	s.ok("data-manager/delete-datasets", store.Doc{"datasets": []any{id}})
	wait(0)
	attempts := -1
	check(s.p.read(t.Context(), func(t tx) { check(t.QueryRow("SELECT attempts FROM jobs").Scan(&attempts)) }))
	if attempts != 0 {
		t.Errorf("%d attempts counted", attempts)
	}
	if err := s.p.Close(); err != nil {
		t.Fatal(err)
	}

	s = start(t, Options{Dir: dir})
	s.raster(project, survey31(nil)) // its jobs come after that of the deleted one
	check(s.p.read(t.Context(), func(tx tx) {
		if doc := tx.load(datasets, id); store.Text(doc, "ingestion.status") != statusRunning {
			t.Errorf("a deleted dataset was ingested: %v", doc["ingestion"])
		}
	}))
	s.ok("data-manager/restore-datasets", store.Doc{"datasets": []any{id}})
	doc := s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "tiles.status", statusAvailable, statusFailed)
	if store.Text(doc, "tiles.status") != statusAvailable {
		t.Errorf("a restored dataset: %v", doc)
	}
}

// The first jobs are found without a look at all those that wait, which are many after
// an upload of many photos.
func TestFirstJobsByIndex(t *testing.T) {
	s := inside(t, Options{})
	check(s.p.read(t.Context(), func(tx tx) {
		for row := range tx.rows("EXPLAIN QUERY PLAN "+firstJobs, previewJob, 1) {
			var id, parent, unused int
			var step string
			check(row.Scan(&id, &parent, &unused, &step))
			if strings.Contains(step, "SCAN") || strings.Contains(step, "TEMP") {
				t.Error(step)
			}
		}
	}))
}
