package ingest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"transect/testdata/flightgen"
)

// TestTwoCamerasOfOneFlight: two cameras flying together number their images alike, at the same
// moments, and write files of one size.
func TestTwoCamerasOfOneFlight(t *testing.T) {
	w := newWorld(t, nil)
	folder := t.TempDir()
	photos := flight(t, 2, flightgen.Options{})
	at := time.Now().Add(-time.Hour)
	for name, from := range map[string]string{"left": "FLIGHT_0001.JPG", "right": "FLIGHT_0002.JPG"} {
		photo, err := os.ReadFile(filepath.Join(photos, from))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name, "DJI_0001.JPG")
		write(t, path, append(photo, make([]byte, 10000-len(photo))...))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	w.expect(w.run(folder, func(o *Options) { o.Source.Include = []string{"left/*"} }), 1, 0, 0)
	w.expect(w.run(folder), 1, 1, 0)
	w.expect(w.run(folder), 0, 2, 0)
}

// TestNameThatIsNoText: a name that is not valid text is found again.
func TestNameThatIsNoText(t *testing.T) {
	w := newWorld(t, nil)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "caf\xe9.txt"), []byte("x"), 0o600); err != nil {
		t.Skipf("this file system takes only text for names: %v", err)
	}
	w.expect(w.run(folder), 1, 0, 0)
	r := w.run(folder)
	w.expect(r, 0, 1, 0)
	for name, o := range outcomes(t, r) {
		if name != "caf%E9.txt" || o.Cause != "" {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestCheckCountsWhatIsThere: images uploaded before count when a run continues, and their captures
// are not incomplete.
func TestCheckCountsWhatIsThere(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 3, flightgen.Options{})
	expecting := func(o *Options) { o.Expected = 5 }
	w.run(folder)
	more := flight(t, 5, flightgen.Options{})
	for _, name := range []string{"FLIGHT_0004.JPG", "FLIGHT_0005.JPG"} {
		if err := os.Rename(filepath.Join(more, name), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		r := w.run(folder, expecting)
		if p := r.Preflight; p.Images != 5 || p.Items != 5 || p.Count("image-count") != 0 {
			t.Errorf("%+v", p)
		}
	}
}

// TestPhotosOfAnotherMission: photos taken elsewhere, in another year, are reported when the
// mission has an area and a date.
func TestPhotosOfAnotherMission(t *testing.T) {
	w := newWorld(t, nil)
	folder := flight(t, 4, flightgen.Options{})
	for _, check := range []Check{CheckWarn, CheckStrict} {
		r := w.run(folder, func(o *Options) { o.Check = check; o.DryRun = true })
		if r.Preflight.Count("far-from-mission") != 1 || r.Preflight.Count("date-not-mission") != 1 {
			t.Errorf("%s: %v", check, r.Preflight.Problems)
		}
	}
	if r := w.run(folder, func(o *Options) { o.Check = CheckOff }); len(r.Preflight.Problems) != 0 {
		t.Errorf("%v", r.Preflight.Problems)
	}
}
