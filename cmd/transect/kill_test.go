package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"transect/testdata/flightgen"
)

// TestKilledAnywhere kills the main job at random moments and runs it again:
// whatever the moment, the end is that of an undisturbed run. TRANSECT_KILLS is the
// number of kills.
func TestKilledAnywhere(t *testing.T) {
	kills := 8
	if testing.Short() {
		kills = 4
	}
	if n, err := strconv.Atoi(os.Getenv("TRANSECT_KILLS")); err == nil {
		kills = n
	}
	opt := flightgen.Options{FileSize: 400 << 10}
	const photos = 24
	calm := newHome(t, photos, opt)
	began := time.Now()
	calm.must("run", "--local", calm.survey, "flight")
	took := time.Since(began)
	want := calm.must("eval", "--local", state)

	var early atomic.Int32
	t.Run("kills", func(t *testing.T) {
		for range kills {
			moment := time.Duration(rand.Int64N(int64(took)))
			t.Run(moment.Round(time.Millisecond).String(), func(t *testing.T) {
				t.Parallel()
				h := newHome(t, 0, opt)
				copied(t, filepath.Join(calm.dir, "flight"), filepath.Join(h.dir, "flight"))
				cmd := h.command("run", "--local", h.survey, "flight")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(moment)
				cmd.Process.Kill()
				if cmd.Wait(); !cmd.ProcessState.Success() {
					early.Add(1)
				}
				h.must("run", "--local", h.survey, "flight")
				if got := h.must("eval", "--local", state); got != want {
					t.Errorf("killed after %s:\n%s\nwant\n%s", moment, got, want)
				}
			})
		}
	})
	t.Logf("%d of %d kills landed before the end of a run of %s", early.Load(), kills, took.Round(time.Millisecond))
	if early.Load() == 0 {
		t.Error("no kill landed before the end: the test proved nothing")
	}
}
