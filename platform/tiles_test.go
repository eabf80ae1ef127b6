package platform

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"transect/platform/internal/store"
	"transect/testdata/tiffgen"
)

// survey31 is a raster of 300 x 200 metres in EPSG:32631.
func survey31(more func(*tiffgen.Image)) []byte {
	m := tiffgen.Image{Width: 600, Height: 400, Bands: 3, Photometric: 2, TileW: 128, TileH: 128, Compression: tiffgen.Deflate,
		EPSG: 32631, X: 500000, Y: 5000000, Pixel: 0.5, Value: func(x, y, b int) float64 { return []float64{200, 100, 50}[b] }}
	if more != nil {
		more(&m)
	}
	return tiffgen.File(tiffgen.Options{}, m)
}

// raster uploads a raster and waits until its tiles are made, or cannot be.
func (s *site) raster(project string, data []byte) store.Doc {
	s.t.Helper()
	id := s.dataset("raster", store.Doc{"project": project}, "raster")
	s.upload(id, "raster", "survey.tif", data)
	return s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "tiles.status", statusAvailable, statusFailed)
}

func (s *site) share(duration int, ids ...string) string {
	s.t.Helper()
	body := store.Doc{"scope": store.Doc{"datasets": ids}, "company": s.company}
	if duration > 0 {
		body["duration"] = duration
	}
	return store.Text(s.ok("dxauth/create-share-token", body), "token")
}

// tile asks for a tile with a share token, without being logged in.
func (s *site) tile(ids string, z, x, y int, token string, header ...string) answer {
	s.t.Helper()
	r := s.request("GET", fmt.Sprintf("/tileserver/tiles/%s/%d/%d/%d.png?access_token=%s", ids, z, x, y, token), nil)
	r.Header.Del("Authorization")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return s.do(r)
}

// corner31 is the tile with the upper left corner of survey31.
func corner31(z int) (x, y int) {
	lat := 45.1534787 * math.Pi / 180
	return int((3.0 + 180) / 360 * math.Exp2(float64(z))), int((1 - math.Asinh(math.Tan(lat))/math.Pi) / 2 * math.Exp2(float64(z)))
}

func decodePNG(t testing.TB, a answer) image.Image {
	t.Helper()
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "image/png" {
		t.Fatalf("%d %s: %s", a.status, a.header.Get("Content-Type"), a.text)
	}
	m, err := png.Decode(strings.NewReader(a.text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTilesOfARaster(t *testing.T) {
	s := start(t, Options{})
	project := s.project("survey")
	doc := s.raster(project, survey31(nil))
	id := store.Text(doc, "_id")
	if format := store.Text(doc, "tiles.format"); format != "png" || store.Text(doc, "ingestion.status") != statusCompleted {
		t.Errorf("%v", doc)
	}
	if wkt := store.Text(doc, "horizontal_srs_wkt"); !strings.Contains(wkt, `AUTHORITY["EPSG","32631"]`) || fmt.Sprintf("%v x %v", doc["width"], doc["height"]) != "600 x 400" ||
		store.Text(doc, "geometry.type") != "Polygon" || !strings.HasPrefix(fmt.Sprint(doc["resolution"]), "0.5") {
		t.Errorf("%v", doc)
	}
	token := s.share(0, id)
	x, y := corner31(18)
	a := s.tile(id, 18, x, y, token)
	m := decodePNG(t, a)
	opaque := 0
	for j := range 256 {
		for i := range 256 {
			if r, g, b, alpha := m.At(i, j).RGBA(); alpha == 0xffff {
				if opaque++; r>>8 != 200 || g>>8 != 100 || b>>8 != 50 {
					t.Fatalf("the colour at %d, %d is %d %d %d", i, j, r>>8, g>>8, b>>8)
				}
			}
		}
	}
	if opaque < 1000 || opaque == 256*256 {
		t.Errorf("%d pixels are drawn", opaque)
	}
	if !strings.HasPrefix(a.header.Get("Cache-Control"), "private, max-age=3600") || a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", a.header)
	}
	if again := s.tile(id, 18, x, y, token, "If-None-Match", a.header.Get("ETag")); again.status != http.StatusNotModified || again.text != "" {
		t.Errorf("asked again: %d", again.status)
	}
	if a := s.get(fmt.Sprintf("/tileserver/tiles/%s/18/%d/%d.png", id, x, y)); a.status != http.StatusOK {
		t.Errorf("with an access token: %d %s", a.status, a.text)
	}
	empty := decodePNG(t, s.tile(id, 18, x+100, y, token))
	if _, _, _, alpha := empty.At(5, 5).RGBA(); alpha != 0 {
		t.Error("a tile beside the raster is not empty")
	}
	// The overviews are part of the raster: clients see no component of that name.
	if a := s.get("/data-manager/download-component?dataset=" + id + "&component=" + overviews); a.status != http.StatusNotFound {
		t.Errorf("the overviews can be downloaded: %d", a.status)
	}
	// Another file takes the place of the first one.
	s.upload(id, "raster", "survey.tif", survey31(func(m *tiffgen.Image) { m.Value = func(int, int, int) float64 { return 7 } }))
	for deadline := time.Now().Add(10 * time.Second); ; {
		m = decodePNG(t, s.tile(id, 18, x, y+1, token))
		if r, _, _, _ := m.At(255, 10).RGBA(); r>>8 == 7 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the tiles are those of the file before")
		}
	}
}

func TestTilesOfSeveralRasters(t *testing.T) {
	s := inside(t, Options{})
	project := s.project("survey")
	colour := func(v float64, x float64) []byte {
		return survey31(func(m *tiffgen.Image) { m.X, m.Value = x, func(int, int, int) float64 { return v } })
	}
	below, above := store.Text(s.raster(project, colour(50, 500000)), "_id"), store.Text(s.raster(project, colour(200, 500050)), "_id")
	token := s.share(0, below, above)
	x, y := corner31(18)
	count := func(ids string) (n [256]int) {
		m := decodePNG(t, s.tile(ids, 18, x, y, token))
		for j := range 256 {
			for i := range 256 {
				if r, _, _, a := m.At(i, j).RGBA(); a == 0xffff {
					n[r>>8]++
				}
			}
		}
		return n
	}
	both, other := count(below+","+above), count(above+","+below)
	if both[50] == 0 || both[200] == 0 || other[50] <= both[50] || other[200] >= both[200] {
		t.Errorf("the second is not above the first: %d and %d pixels, %d and %d the other way", both[50], both[200], other[50], other[200])
	}
}

func TestTilesRefused(t *testing.T) {
	now := time.Now()
	s := inside(t, Options{Now: func() time.Time { return now }})
	project := s.project("survey")
	good := store.Text(s.raster(project, survey31(nil)), "_id")
	other := store.Text(s.raster(project, survey31(nil)), "_id")
	failed := map[string]string{}
	for reason, data := range map[string][]byte{
		"EPSG:9999 is unknown":       survey31(func(m *tiffgen.Image) { m.EPSG = 9999 }),
		"the raster has no position": survey31(func(m *tiffgen.Image) { m.EPSG = 0 }),
		"ZSTD compression":           survey31(func(m *tiffgen.Image) { m.Extra = []tiffgen.Field{{Tag: 259, Kind: 3, Numbers: []float64{50000}}} }),
		"cut short":                  survey31(nil)[:2000],
		"pixels of piece":            bytes.Replace(survey31(nil), []byte("\x78\x9c"), []byte("xx"), 3), // the marks of Deflate
	} {
		doc := s.raster(project, data)
		failed[store.Text(doc, "_id")] = reason
		if store.Text(doc, "tiles.status") != statusFailed || !strings.Contains(store.Text(doc, "tiles.error.message"), reason) || store.Text(doc, "ingestion.status") != statusCompleted {
			t.Errorf("%s: %v %v", reason, doc["tiles"], doc["ingestion"])
		}
		if located, warned := doc["geometry"] != nil, strings.Contains(store.Text(doc, "ingestion.warning.message"), reason); located == warned {
			t.Errorf("%s: place %v, warning %q", reason, doc["geometry"], store.Text(doc, "ingestion.warning.message"))
		}
	}
	file := s.dataset("file", store.Doc{"project": project}, "file")
	gone := store.Text(s.raster(project, survey31(nil)), "_id")
	all := append([]string{good, file, gone}, slices.Collect(maps.Keys(failed))...)
	token, short, revoked := s.share(0, all...), s.share(59, good), s.share(0, good)
	s.ok("dxauth/revoke-share-token", store.Doc{"token": revoked})
	s.ok("data-manager/delete-datasets", store.Doc{"datasets": []any{gone}})
	if a := s.tile(good, 0, 0, 0, short); a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Cache-Control"), "private, max-age=5") {
		t.Errorf("%d %v", a.status, a.header)
	}
	s.expect(s.tile(good, 0, 0, 0, "nonsense"), http.StatusUnauthorized, "unknown or was revoked")
	s.expect(s.tile(good, 0, 0, 0, revoked), http.StatusUnauthorized, "unknown or was revoked")
	s.expect(s.tile(good, 0, 0, 0, ""), http.StatusUnauthorized, "access token is required")
	s.expect(s.tile(other, 0, 0, 0, token), http.StatusForbidden, "does not open dataset "+other)
	s.expect(s.tile(good+","+other, 0, 0, 0, token), http.StatusForbidden, "does not open dataset "+other)
	s.expect(s.tile(gone, 0, 0, 0, token), http.StatusNotFound, "does not exist")
	s.expect(s.tile(file, 0, 0, 0, token), http.StatusNotFound, "only rasters have tiles")
	for id, reason := range failed {
		s.expect(s.tile(id, 0, 0, 0, token), http.StatusNotFound, reason)
	}
	s.expect(s.tile(strings.Repeat(good+",", 150)+good, 0, 0, 0, token), http.StatusBadRequest, "151 rasters are too many")
	for _, address := range []string{"0/0/0.webp", "0/0/0", "0/1/0.png", "0/0/1.png", "31/0/0.png", "x/0/0.png", "0/-1/0.png", "0/0/1e3.png", "99999999999999999999/0/0.png"} {
		s.expect(s.get("/tileserver/tiles/"+good+"/"+address+"?access_token="+token), http.StatusBadRequest, "tile")
	}
	now = now.Add(time.Minute)
	s.expect(s.tile(good, 0, 0, 0, short), http.StatusUnauthorized, "has expired")
	if a := s.tile(good, 0, 0, 0, token); a.status != http.StatusOK {
		t.Errorf("a token without end: %d %s", a.status, a.text)
	}
}

// A raster without a position takes that of the files beside it.
func TestTilesByWorldFile(t *testing.T) {
	s := inside(t, Options{})
	id := s.dataset("raster", store.Doc{"project": s.project("survey")}, "raster", "worldfile", "projection")
	s.upload(id, "projection", "survey.prj", []byte(`PROJCS["WGS_1984_UTM_Zone_31N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",3.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`))
	s.upload(id, "worldfile", "survey.tfw", []byte("0.5\n0\n0\n-0.5\n500000.25\n4999999.75\n"))
	s.upload(id, "raster", "survey.tif", survey31(func(m *tiffgen.Image) { m.EPSG = 0 }))
	doc := s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "tiles.status", statusAvailable, statusFailed)
	other := s.raster(s.project("other"), survey31(nil))
	if store.Text(doc, "geometry.type") != "Polygon" {
		t.Errorf("%v", doc)
	}
	x, y := corner31(18)
	token := s.share(0, id, store.Text(other, "_id"))
	if s.tile(id, 18, x, y, token).text != s.tile(store.Text(other, "_id"), 18, x, y, token).text {
		t.Error("another tile")
	}
}

// Links made inside the process lead to where the folder is served, if it is.
func TestLinksLeadToTheServer(t *testing.T) {
	options := Options{Dir: t.TempDir() + "/platform"}
	ids := func(s *site) []any {
		return []any{s.dataset("file", store.Doc{"project": s.project("survey")}, "file")}
	}
	token := func(s *site) store.Doc {
		return s.ok("dxauth/create-share-token", store.Doc{"scope": store.Doc{"datasets": ids(s)}, "company": s.company})
	}
	t.Run("served", func(t *testing.T) {
		s := start(t, options)
		if doc := token(s); doc["tileserver"] != nil {
			t.Errorf("over TCP: %v", doc)
		}
		p, err := Open(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		beside := logIn(t, p, Address, newClient(p))
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			doc := token(beside)
			if doc["tileserver"] == any(s.base) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v, want %s", doc, s.base)
			}
		}
	})
	p, err := Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if doc := token(logIn(t, p, Address, newClient(p))); doc["tileserver"] != any("") {
		t.Errorf("not served any more: %v", doc)
	}
}

// The overviews of a raster go with it.
func TestOverviewsAreSwept(t *testing.T) {
	now := time.Now()
	s := inside(t, Options{Now: func() time.Time { return now }})
	doc := s.raster(s.project("survey"), survey31(nil))
	s.until("data-manager/describe-dataset", store.Doc{"dataset": doc["_id"]}, "preview.status", statusAvailable, statusFailed)
	used := s.p.blobs.Idle(time.Now().Add(time.Hour)) // the file, its overviews, its preview
	if len(used) < 2 {
		t.Fatalf("blobs: %v", used)
	}
	sweep := func() { s.p.sweep(t.Context(), time.Now().Add(2*sweepAge)) }
	sweep()
	if ids := s.p.blobs.Idle(time.Now().Add(time.Hour)); len(ids) != len(used) {
		t.Errorf("blobs in use: %v", ids)
	}
	s.ok("data-manager/delete-datasets", store.Doc{"datasets": []any{doc["_id"]}})
	now = now.Add(DefaultKeepDeleted + time.Hour)
	sweep()
	if ids := s.p.blobs.Idle(time.Now().Add(time.Hour)); len(ids) != 0 {
		t.Errorf("blobs of a deleted raster: %v", ids)
	}
}

// Making the tiles of a small file that takes long ends, and says why.
func TestTilesThatTakeLong(t *testing.T) {
	s := start(t, Options{})
	s.p.maxTime = func(int64) time.Duration { return 0 }
	project := s.project("survey")
	doc := s.raster(project, survey31(nil))
	if message := store.Text(doc, "tiles.error.message"); store.Text(doc, "tiles.status") != statusFailed || !strings.Contains(message, "making its tiles takes longer than 0s") {
		t.Errorf("%v", doc["tiles"])
	}
	if store.Text(doc, "preview.error.message") != store.Text(doc, "tiles.error.message") {
		t.Errorf("%v", doc["preview"])
	}
	left := 0
	check(s.p.read(t.Context(), func(t tx) { check(t.QueryRow("SELECT count(*) FROM jobs").Scan(&left)) }))
	if left > 0 {
		t.Error("it is tried again, or a preview is drawn")
	}
}

// BenchmarkTileRequest asks for warm tiles over TCP. "times" is how many times as
// long that takes as encoding a tile of the same size and answering it.
func BenchmarkTileRequest(b *testing.B) {
	s := start(b, Options{})
	id := store.Text(s.raster(s.project("survey"), survey31(func(m *tiffgen.Image) { m.Width, m.Height, m.Value = 3000, 3000, nil })), "_id")
	token := s.share(0, id)
	for _, z := range []int{14, 16, 18} {
		x, y := corner31(z)
		m := decodePNG(b, s.tile(id, z, x, y, token))
		b.Run(fmt.Sprint("zoom ", z), func(b *testing.B) {
			var tiles, floor time.Duration
			for b.Loop() {
				began := time.Now()
				if a := s.tile(id, z, x, y, token); a.status != http.StatusOK {
					b.Fatal(a.text)
				}
				tiles += time.Since(began)
				began = time.Now()
				encoder := png.Encoder{CompressionLevel: png.BestSpeed}
				if err := encoder.Encode(io.Discard, m); err != nil {
					b.Fatal(err)
				}
				s.get("/tileserver/tiles/none/0/0/0.png")
				floor += time.Since(began)
			}
			b.ReportMetric(float64(tiles.Microseconds())/1000/float64(b.N), "ms/tile")
			b.ReportMetric(float64(tiles)/float64(floor), "times")
		})
	}
}
