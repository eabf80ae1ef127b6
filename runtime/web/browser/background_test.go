package browser_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"
)

// tileServer serves empty tiles and keeps what it was asked for.
type tileServer struct {
	*httptest.Server
	mu       sync.Mutex
	paths    []string
	referrer string
}

func newTileServer(t *testing.T) *tileServer {
	t.Helper()
	var tile bytes.Buffer
	if err := png.Encode(&tile, image.NewGray(image.Rect(0, 0, 256, 256))); err != nil {
		t.Fatal(err)
	}
	s := &tileServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.paths = append(s.paths, r.URL.Path)
		s.referrer += r.Header.Get("Referer") + r.Header.Get("Cookie")
		s.mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*") // the cookie of the page is for all ports of a host: none is sent
		w.Header().Set("Content-Type", "image/png")
		w.Write(tile.Bytes())
	}))
	t.Cleanup(s.Close)
	return s
}

// The background of the map comes from the host that was named, which is told
// nothing of the page; no other host is asked.
func TestBackground(t *testing.T) {
	needsBrowser(t)
	s := surveyed(t)
	tiles, other := newTileServer(t), newTileServer(t)
	address, _ := s.ui("--local", "--tiles", tiles.URL+"/{z}/{x}/{y}.png")
	p := open(t, address)
	p.visit("/map")
	p.until(loadedMap)
	p.until(`(m => m.tiles.loading === 0 && [...m.tiles.cache.values()].some(t => t.ready))(document.querySelector("#map").map)`)
	tiles.mu.Lock()
	for _, path := range tiles.paths {
		if !regexp.MustCompile(`^/\d+/\d+/\d+\.png$`).MatchString(path) {
			t.Errorf("the tile server was asked for %s", path)
		}
	}
	if len(tiles.paths) == 0 || tiles.referrer != "" {
		t.Errorf("%d tiles were asked for, with %q", len(tiles.paths), tiles.referrer)
	}
	tiles.mu.Unlock()
	p.picture("background")
	p.expect("Content Security Policy")
	for _, refused := range []string{
		`new Promise(done => { const i = new Image(); i.onload = () => done("loaded"); i.onerror = () => done("refused"); i.src = ` + quoted(other.URL+"/1/1/1.png") + ` })`,
		`fetch(` + quoted(other.URL+"/data") + `).then(() => "loaded", () => "refused")`,
		`fetch(` + quoted(tiles.URL+"/data") + `).then(() => "loaded", () => "refused")`, // pictures alone
	} {
		if got := eval[string](p, refused); got != "refused" {
			t.Errorf("%s: %s", refused, got)
		}
	}
	if len(other.paths) != 0 {
		t.Errorf("another host was asked for %s", other.paths)
	}
}
