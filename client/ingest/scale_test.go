package ingest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"transect/client"
	"transect/client/imagery/flightgen"
	"transect/client/ingest/gather"
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
	if runtime.GOOS != "linux" {
		t.Skip("peak memory is read from /proc, which this system has not")
	}
	n := 3_000
	if text := os.Getenv("TRANSECT_MANY_IMAGES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	} else if testing.Short() {
		t.Skip("makes 3,000 photos: not in a short run")
	}
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
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyImagesInLittleMemory$", "-test.v", "-test.timeout=60m")
			cmd.Env = append(os.Environ(), "TRANSECT_INGEST_SCALE="+what, "SCALE_DIR="+dir, "SCALE_URL="+w.server.URL, "SCALE_USER="+login.User,
				"SCALE_PASSWORD="+login.Password, "SCALE_ID="+login.ClientID, "SCALE_SECRET="+login.ClientSecret,
				"SCALE_PROJECT="+w.target.Project, "SCALE_MISSION="+w.target.Mission, "SCALE_STATE="+filepath.Join(t.TempDir(), "state"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var images, peak int
			var took float64
			_, rest, _ := strings.Cut(string(out), "looked at ")
			if _, err := fmt.Sscanf(rest, "%d in %f s, peak %d KiB", &images, &took, &peak); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%d images in %.1f s: %.0f a second; peak %d MiB", images, took, float64(images)/took, peak>>10)
			if images != n {
				t.Errorf("%d images of %d", images, n)
			}
			if peak > 128<<10 {
				t.Errorf("peak of %d MiB, want less than 128", peak>>10)
			}
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
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Printf("looked at %d in %.2f s, peak %s KiB\n", images, time.Since(began).Seconds(), strings.Fields(text)[0])
}
