package crs

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"flag"
	"fmt"
	"html"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "make register.txt.gz from the database of PROJ")

// points returns nine positions in an area, its middle first.
func points(a [4]float64) (list [][2]float64) {
	south, west, north, east := a[0], a[1], a[2], a[3]
	if east < west {
		east += 360
	}
	for _, f := range [][2]float64{{.5, .5}, {.05, .05}, {.95, .05}, {.05, .95}, {.95, .95}, {.5, .05}, {.5, .95}, {.05, .5}, {.95, .5}} {
		lon := west + f[0]*(east-west)
		if lon > 180 {
			lon -= 360
		}
		list = append(list, [2]float64{lon, south + f[1]*(north-south)})
	}
	return list
}

// trial is a system with coordinates in it.
type trial struct {
	code        int
	definition  string // for GDAL
	coordinates [][2]float64
}

// transform converts the coordinates to longitude and latitude of WGS 84 using GDAL, NaN where it
// fails. It starts a program per processor.
func transform(t *testing.T, trials []trial) map[int][][2]float64 {
	t.Helper()
	results := map[int][][2]float64{}
	var group sync.WaitGroup
	var mutex sync.Mutex
	working := make(chan struct{}, runtime.GOMAXPROCS(0))
	for batch := range slices.Chunk(trials, 200) { // number of files that GDAL opens at a time
		group.Go(func() {
			working <- struct{}{}
			defer func() { <-working }()
			folder := t.TempDir()
			var layers strings.Builder
			for _, tr := range batch {
				var text strings.Builder
				text.WriteString("x,y\n")
				for _, c := range tr.coordinates {
					fmt.Fprintf(&text, "%.17g,%.17g\n", c[0], c[1])
				}
				name := fmt.Sprintf("s%d", tr.code)
				if err := os.WriteFile(filepath.Join(folder, name+".csv"), []byte(text.String()), 0o600); err != nil {
					t.Error(err)
				}
				fmt.Fprintf(&layers, `<OGRVRTLayer name="%s"><SrcDataSource>%[2]s/%[1]s.csv</SrcDataSource><SrcLayer>%[1]s</SrcLayer>`+
					`<GeometryField encoding="PointFromColumns" x="x" y="y"/><GeometryType>wkbPoint</GeometryType>`+
					`<LayerSRS>%[3]s</LayerSRS></OGRVRTLayer>`, name, folder, tr.definition)
			}
			vrt, out := filepath.Join(folder, "all.vrt"), filepath.Join(folder, "out")
			if err := os.WriteFile(vrt, []byte("<OGRVRTDataSource>"+layers.String()+"</OGRVRTDataSource>"), 0o600); err != nil {
				t.Error(err)
			}
			gdal(t, "", "ogr2ogr", "-skipfailures", "-f", "CSV", "-lco", "GEOMETRY=AS_XY", "-t_srs", "EPSG:4326", out, vrt)
			for _, tr := range batch {
				f, err := os.Open(filepath.Join(out, fmt.Sprintf("s%d.csv", tr.code)))
				if err != nil {
					continue // GDAL does not know the system
				}
				lines, err := csv.NewReader(f).ReadAll()
				f.Close()
				if err != nil || len(lines) != len(tr.coordinates)+1 {
					t.Errorf("%d: %d lines, %v", tr.code, len(lines), err)
					continue
				}
				var list [][2]float64
				for _, line := range lines[1:] {
					p := [2]float64{math.NaN(), math.NaN()}
					for k := range p {
						if v, err := strconv.ParseFloat(line[k], 64); err == nil {
							p[k] = v
						}
					}
					list = append(list, p)
				}
				mutex.Lock()
				results[tr.code] = list
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	return results
}

// metres returns the distance of two close positions.
func metres(a, b [2]float64) float64 {
	x := math.Remainder(a[0]-b[0], 360) * 111320 * math.Cos(b[1]*degree)
	return math.Hypot(x, (a[1]-b[1])*111320)
}

// compare compares systems with GDAL, and returns the largest distance per code; infinite where
// only GDAL fails. It skips systems without a position. GDAL gets the codes, or for some the texts.
func compare(t *testing.T, m *made, systems map[int]*System, texts map[int]string) map[int]float64 {
	var trials []trial
	kept := map[int][][2]float64{}
	for code, s := range systems {
		tr := trial{code, cmp.Or(html.EscapeString(texts[code]), fmt.Sprintf("EPSG:%d", code)), nil}
		area := m.areas[cmp.Or(s.Code, code)] // GDAL replaces deprecated systems by others
		for _, p := range points(area) {
			x, y := s.FromWGS84(p[0], p[1])
			lon, lat := s.ToWGS84(x, y)
			if finite(x, y, lon, lat) {
				tr.coordinates = append(tr.coordinates, [2]float64{x, y})
				kept[code] = append(kept[code], p)
			}
		}
		if len(tr.coordinates) > 0 {
			trials = append(trials, tr)
		}
	}
	slices.SortFunc(trials, func(a, b trial) int { return a.code - b.code })
	results := transform(t, trials)
	worst := map[int]float64{}
	for _, tr := range trials {
		worst[tr.code] = math.Inf(1)
		for i, want := range results[tr.code] {
			if i == 0 {
				worst[tr.code] = 0
			}
			lon, lat := systems[tr.code].ToWGS84(tr.coordinates[i][0], tr.coordinates[i][1])
			d := max(metres([2]float64{lon, lat}, want), metres(kept[tr.code][i], want))
			if math.IsNaN(d) {
				d = math.Inf(1)
			}
			worst[tr.code] = max(worst[tr.code], d)
		}
	}
	return worst
}

// all returns the systems of a register that have a position.
func all(t *testing.T, r *register) map[int]*System {
	systems := map[int]*System{}
	for code, line := range r.systems {
		if line[0] == 'g' || line[0] == 'p' {
			continue
		}
		s, err := r.system(code)
		if err != nil {
			t.Errorf("EPSG:%d: %v", code, err)
			continue
		}
		systems[code] = s
	}
	return systems
}

// chosen returns the codes that a test compares: all of them if TRANSECT_EPSG is "all", else a
// random selection.
func chosen(t *testing.T, codes []int, some int) []int {
	slices.Sort(codes)
	if os.Getenv("TRANSECT_EPSG") == "all" || len(codes) <= some {
		return codes
	}
	seed := rand.Uint64()
	t.Logf("%d of %d codes, seed %d; TRANSECT_EPSG=all compares all", some, len(codes), seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(codes), func(i, j int) { codes[i], codes[j] = codes[j], codes[i] })
	return codes[:some]
}

// TestRegister generates the register with -update: rows that differ from GDAL by more than two
// metres are in lower case. Otherwise it compares the register with GDAL.
func TestRegister(t *testing.T) {
	m := makeRegister(t)
	if *update {
		updateRegister(t, m)
		return
	}
	r := loaded()
	known := all(t, r)
	systems := map[int]*System{}
	for _, code := range chosen(t, slices.Collect(maps.Keys(known)), 200) {
		systems[code] = known[code]
	}
	wrong := 0
	for code, d := range compare(t, m, systems, nil) {
		if d > 2 {
			wrong++
			t.Errorf("%s is %.3g m from GDAL", systems[code], d)
		}
	}
	t.Logf("of %d projected and geographic systems: %d known, %d absent; of %d compared %d are not within 2 m",
		len(r.systems), len(known), len(r.systems)-len(known), len(systems), wrong)
	for _, line := range m.rows {
		if f := columns(line); (f[0] == "G" || f[0] == "P") && r.systems[f.int(1)] == "" {
			t.Errorf("%.60s is not in the register: go generate ./client/formats/crs", line)
		}
	}
}

func updateRegister(t *testing.T, m *made) {
	worst := compare(t, m, all(t, load(strings.Join(m.rows, "\n")+"\n")), nil)
	reasons := map[string]int{}
	for i, line := range m.rows {
		f := columns(line)
		if f[0] != "G" && f[0] != "P" {
			continue
		}
		switch d, known := worst[f.int(1)]; {
		case !known:
			reasons["without a position"]++
		case d > 2:
			reasons["different"]++
			t.Logf("%.9g m: %.80s", d, line)
		default:
			continue
		}
		m.rows[i] = strings.ToLower(f[0]) + line[1:]
	}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	fmt.Fprintln(w, strings.Join(m.rows, "\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("register.txt.gz", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Log(b.Len(), "bytes", reasons)
}

// texts returns systems as WKT of Esri, WKT 1 and WKT 2, written by GDAL.
func texts(t *testing.T, codes []int) map[int]map[string]string {
	list := map[int]map[string]string{}
	for batch := range slices.Chunk(codes, 100) {
		folder := t.TempDir()
		var layers strings.Builder
		if err := os.WriteFile(filepath.Join(folder, "a.csv"), []byte("x,y\n1,2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, code := range batch {
			fmt.Fprintf(&layers, `<OGRVRTLayer name="s%d"><SrcDataSource shared="1">%s/a.csv</SrcDataSource><SrcLayer>a</SrcLayer>`+
				`<GeometryField encoding="PointFromColumns" x="x" y="y"/><GeometryType>wkbPoint</GeometryType>`+
				`<LayerSRS>EPSG:%[1]d</LayerSRS></OGRVRTLayer>`, code, folder)
		}
		vrt := filepath.Join(folder, "all.vrt")
		if err := os.WriteFile(vrt, []byte("<OGRVRTDataSource>"+layers.String()+"</OGRVRTDataSource>"), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, format := range map[string]string{"esri": "WKT1_ESRI", "wkt1": "WKT1_GDAL", "wkt2": "WKT2_2019"} {
			for _, layer := range strings.Split(gdal(t, "", "ogrinfo", "-so", "-al", "-wkt_format", format, vrt), "Layer name: s")[1:] {
				code, rest, _ := strings.Cut(layer, "\n")
				_, rest, _ = strings.Cut(rest, "Layer SRS WKT:\n")
				text, _, found := strings.Cut(rest, "\nData axis to CRS axis mapping")
				if n, err := strconv.Atoi(code); err == nil && found {
					if list[n] == nil {
						list[n] = map[string]string{}
					}
					list[n][name] = text
				}
			}
		}
	}
	return list
}

// TestTextsOfTheRegister: a text gives the same positions as its code, or none.
func TestTextsOfTheRegister(t *testing.T) {
	m := makeRegister(t)
	r := loaded()
	doubtful := map[string]map[int]*System{} // by form
	doubted := map[string]map[int]string{}
	var written []trial
	counts := map[string]int{}
	for code, forms := range texts(t, chosen(t, slices.Collect(maps.Keys(r.systems)), 300)) {
		own, ownErr := r.system(code)
		if ownErr == nil {
			forms["own"] = own.WKT()
		}
		// GDAL reads the written projection; without a code it has no area to choose a transformation by.
		if ownErr == nil && !own.Geographic && len(own.datum.shifts) < 3 &&
			own.datum.code != 6266 { // GDAL does not find its name, M'poraloko, as it writes it
			tr := trial{code, html.EscapeString(strings.Replace(own.WKT(), authority(code), "", 1)), nil}
			for _, p := range points(m.areas[code]) {
				if x, y := own.FromWGS84(p[0], p[1]); finite(x, y) {
					tr.coordinates = append(tr.coordinates, [2]float64{x, y})
				}
			}
			written = append(written, tr)
		}
		for name, text := range forms {
			for _, name := range []string{name, name + " without codes"} {
				if strings.Contains(name, "without") {
					text = identifiers.ReplaceAllString(text, "")
				}
				s, err := FromWKT(text)
				if err != nil {
					if counts[name+": absent"]++; ownErr == nil {
						counts[name+": absent, known by its code"]++
						t.Logf("EPSG:%d as %s: %v", code, name, err)
					}
					continue
				}
				counts[name+": known"]++
				same := ownErr == nil
				for _, p := range points(m.areas[code]) {
					if same {
						x, y := own.FromWGS84(p[0], p[1])
						lon, lat := s.ToWGS84(x, y)
						same = !finite(lon, lat) || metres([2]float64{lon, lat}, p) < 1
					}
				}
				if !same {
					if doubtful[name] == nil {
						doubtful[name], doubted[name] = map[int]*System{}, map[int]string{}
					}
					doubtful[name][code], doubted[name][code] = s, text
				}
			}
		}
	}
	for name, systems := range doubtful {
		for code, d := range compare(t, m, systems, doubted[name]) {
			if d > 2 {
				t.Errorf("EPSG:%d as %s is %.3g m from GDAL: %s\n%s", code, name, d, systems[code], doubted[name][code])
			}
		}
	}
	for code, positions := range transform(t, written) {
		s, _ := r.system(code)
		i := slices.IndexFunc(written, func(w trial) bool { return w.code == code })
		for k, want := range positions {
			lon, lat := s.ToWGS84(written[i].coordinates[k][0], written[i].coordinates[k][1])
			if d := metres([2]float64{lon, lat}, want); !(d <= 2) {
				t.Errorf("%s as it is written is %.3g m from GDAL: %s", s, d, s.WKT())
				break
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Log(name, counts[name])
	}
}
