package ingest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/client"
	"transect/client/scan"
	"transect/testdata/flightgen"
	"transect/testdata/peaktest"
)

// TestManyImagesInLittleMemory checks a flight, ingests it except for sending bytes, and again when
// all of it is uploaded, each in a separate process whose peak memory is read.
// TRANSECT_MANY_IMAGES=1000000 sets the length of the flight; it takes minutes, and 4 GB in the
// folder of temporary files, or in TRANSECT_MANY_IMAGES_DIR, which is kept for the next time.
func TestManyImagesInLittleMemory(t *testing.T) {
	if what := os.Getenv("TRANSECT_INGEST_SCALE"); what != "" {
		scale(t, what)
		return
	}
	n := peaktest.Number(t, "TRANSECT_MANY_IMAGES", 3_000)
	dir := os.Getenv("TRANSECT_MANY_IMAGES_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) == 0 {
		if err := flightgen.Write(dir, n, flightgen.Options{Width: 16, Height: 16, Strips: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, nil)
	login := w.p.Credentials()
	for _, what := range []string{"check", "run", "again"} {
		t.Run(what, func(t *testing.T) {
			if what == "again" {
				w.pretendIngested(dir)
			}
			peaktest.Run(t, "TestManyImagesInLittleMemory", n,
				"TRANSECT_INGEST_SCALE="+what, "SCALE_DIR="+dir, "SCALE_URL="+w.server.URL, "SCALE_USER="+login.User,
				"SCALE_PASSWORD="+login.Password, "SCALE_ID="+login.ClientID, "SCALE_SECRET="+login.ClientSecret,
				"SCALE_PROJECT="+w.target.Project, "SCALE_MISSION="+w.target.Mission, "SCALE_STATE="+filepath.Join(t.TempDir(), "state"))
		})
	}
}

// scale is the measured process.
func scale(t *testing.T, what string) {
	began := time.Now()
	env := os.Getenv
	o := Options{Source: scan.Source{Root: env("SCALE_DIR")}, Target: Target{Project: env("SCALE_PROJECT"), Mission: env("SCALE_MISSION")},
		StateDir: env("SCALE_STATE"), DryRun: what == "run"}
	images := 0
	if what == "check" {
		report, err := Preflight(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		images = report.Images
	} else {
		c, err := client.New(context.Background(), client.Settings{URL: env("SCALE_URL"), User: env("SCALE_USER"), Password: env("SCALE_PASSWORD"),
			ClientID: env("SCALE_ID"), ClientSecret: env("SCALE_SECRET")}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := Run(context.Background(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		images = int(result.Counts.Uploaded)
		if what == "again" {
			images = int(result.Counts.AlreadyThere)
		}
		if all := result.Counts.Total(); int(all) != images {
			t.Errorf("%+v", result.Counts)
		}
		if result.Preflight.Images != images {
			t.Errorf("%d of %d images were checked", result.Preflight.Images, images)
		}
	}
	peaktest.Tell(t, images, began)
}

// pretendIngested makes the photos of a folder look ingested: the first one is, and the platform's
// record of it is copied for the others, because sending so many would take hours.
func (w *world) pretendIngested(dir string) {
	w.t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		w.t.Fatal(err)
	}
	first := entries[0].Name()
	w.run(dir, func(o *Options) { o.Source.Include = []string{first} })
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.p.Dir(), "platform.db")+"?_pragma=busy_timeout(20000)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		w.t.Fatal(err)
	}
	defer tx.Rollback() // has no effect after the commit
	insert, err := tx.Prepare(`INSERT INTO docs SELECT collection, ?1, ?2, company, project, mission, flight, type, status, creation_date, deletion_date,
		json_set(body, '$._id', ?1, '$.name', ?2, '$.properties.transect.file', ?2, '$.properties.transect.key', ?3,
			'$.properties.transect.size', ?4, '$.properties.transect.modified', ?5) FROM docs WHERE collection = 'datasets' AND name = ?6`)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, entry := range entries[1:] {
		info, err := entry.Info()
		if err != nil {
			w.t.Fatal(err)
		}
		id, key := fmt.Sprintf("%024x", i+1), fmt.Sprintf("%016x%016x", i+1, 0)
		if _, err := insert.Exec(id, entry.Name(), key, info.Size(), timestamp(info.ModTime()), first); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		w.t.Fatal(err)
	}
}
