package ingest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/client"
	"transect/client/imagery/flightgen"
	"transect/client/ingest/gather"
	"transect/client/ingest/peaktest"
)

// TestManyImagesInLittleMemory checks a flight, and then ingests it up to the
// sending of bytes, each in a process of its own whose most memory is read.
// TRANSECT_MANY_IMAGES=1000000 makes the flight that long; it takes minutes,
// and 4 GB in the folder of temporary files, or in TRANSECT_MANY_IMAGES_DIR,
// which is kept for the next time.
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
	for _, what := range []string{"check", "run"} {
		t.Run(what, func(t *testing.T) {
			peaktest.Run(t, "TestManyImagesInLittleMemory", n,
				"TRANSECT_INGEST_SCALE="+what, "SCALE_DIR="+dir, "SCALE_URL="+w.server.URL, "SCALE_USER="+login.User,
				"SCALE_PASSWORD="+login.Password, "SCALE_ID="+login.ClientID, "SCALE_SECRET="+login.ClientSecret,
				"SCALE_PROJECT="+w.target.Project, "SCALE_MISSION="+w.target.Mission, "SCALE_STATE="+filepath.Join(t.TempDir(), "state"))
		})
	}
}

// scale is the process that is measured.
func scale(t *testing.T, what string) {
	began := time.Now()
	env := os.Getenv
	o := Options{Source: gather.Source{Root: env("SCALE_DIR")}, Target: Target{Project: env("SCALE_PROJECT"), Mission: env("SCALE_MISSION")},
		StateDir: env("SCALE_STATE"), DryRun: true}
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
		if result.Preflight.Images != int(result.Counts.Created) {
			t.Errorf("%d of %d images were checked", result.Preflight.Images, result.Counts.Created)
		}
		images = int(result.Counts.Created)
	}
	peaktest.Tell(t, images, began)
}
