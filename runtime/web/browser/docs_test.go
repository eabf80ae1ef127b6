package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"transect/runtime/unattended/history"
	"transect/testdata/flightgen"
)

// maxPicture is how large a picture of the documentation may be, in bytes.
const maxPicture = 60_000

// shoot keeps what the window shows as a picture of the documentation.
func (p *tab) shoot(name string) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1100, Height: 720, DeviceScaleFactor: 1})
	time.Sleep(700 * time.Millisecond) // until the map has been drawn at its new size
	for quality := int64(85); ; quality -= 10 {
		shot, err := chromedp.Call(p.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatJpeg, Quality: &quality})
		if err != nil {
			p.t.Fatal(err)
		}
		if len(shot.Data) <= maxPicture {
			if err := os.WriteFile(filepath.Join("../../../docs/pictures", name+".jpg"), shot.Data, 0o644); err != nil {
				p.t.Fatal(err)
			}
			return
		}
	}
}

// The pictures of the documentation, when TRANSECT_PICTURES is set; else they
// have to be there, and small.
func TestPicturesOfTheDocumentation(t *testing.T) {
	names := []string{"folder", "map", "dataset", "product", "runs", "run", "jobs"}
	if os.Getenv("TRANSECT_PICTURES") == "" {
		for _, name := range names {
			if info, err := os.Stat(filepath.Join("../../../docs/pictures", name+".jpg")); err != nil || info.Size() > maxPicture {
				t.Errorf("the picture %s is missing or larger than %d bytes: make it with TRANSECT_PICTURES=1", name, maxPicture)
			}
		}
		return
	}
	needsBrowser(t)
	s := newSiteIn(t, picturesFolder(t, "field"))
	script, err := os.ReadFile(filepath.Join(s.root, "scripts/survey.lua"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("survey.lua", string(script))
	flight := filepath.Join(s.dir, "May survey")
	if err := flightgen.Write(flight, 96, flightgen.Options{Strips: 8, Width: 640, Height: 480, WithoutPosition: []int{40}}); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []int{53, 54, 55} { // a gap
		if err := os.Remove(filepath.Join(flight, fmt.Sprintf("FLIGHT_%04d.JPG", gone))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(flight, "FLIGHT_0020.JPG"), 3000); err != nil {
		t.Fatal(err)
	}
	address, _ := s.ui("--local", flight)
	p := open(t, address)
	p.until(loadedMap)
	p.shoot("folder")
	s.weeks("sync.lua")
	survey := s.start("run", "--local", "--bwlimit", "150k", "survey.lua", "--out", "out", "May survey")
	p.visit("/runs")
	p.until(`document.querySelector("#runs-going progress")?.value > 40`)
	p.shoot("runs")
	_ = survey.cmd.Wait() // one file is damaged
	p.visit("/map")
	p.until(loadedMap)
	p.click(".thumb:nth-child(5)")
	p.shoot("map")
	p.click(`.map-panel a[href^="/datasets/"]`)
	p.see("main h1")
	p.shoot("dataset")
	p.visit("/products")
	p.click(`main a[href^="/products/"]`)
	p.see("main h1")
	p.shoot("product")
	runs, err := s.history().List(1, func(r *history.Summary) bool { return filepath.Base(r.Script) == "survey.lua" })
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	p.visit("/runs/" + runs[0].ID)
	p.see("#log")
	p.shoot("run")
}

// The picture of the jobs: a season and what became of it, the morning after.
func TestPictureOfTheJobs(t *testing.T) {
	if os.Getenv("TRANSECT_PICTURES") == "" {
		t.Skip("makes a picture of the documentation when TRANSECT_PICTURES is set")
	}
	needsBrowser(t)
	s := newSiteIn(t, picturesFolder(t, "office"))
	s.seasonScripts(200)
	s.run("schedule", "add", "nightly", "30 2 * * *", "--zone", "Europe/Paris", "flight.lua", "7")
	s.run("schedule", "add", "report", "0 6 * * 1-5", "--zone", "Europe/Paris", "flight.lua", "3")
	s.start("worker", "--name", "field-office", "--slots", "6")
	s.submit("season.lua")
	s.submit("--queue", "ortho", "wait.lua")
	s.submit("--on", "field-office", "wait.lua")
	board, _ := s.ui("--jobs", "--allow-actions")
	p := open(t, board)
	p.visit("/jobs")
	p.reads("#jobs-day", "of 200 jobs failed")
	s.submit("ask.lua")
	s.run("schedule", "run", "report")
	p.reads("#jobs-day", "needs a decision")
	p.reads("#jobs-schedules", "done")
	p.shoot("jobs")
}

// picturesFolder is a new folder with a name that pictures may show.
func picturesFolder(t *testing.T, name string) string {
	t.Helper()
	folder := filepath.Join(os.TempDir(), name)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}
