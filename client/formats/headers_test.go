package formats

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/paulmach/orb"
)

const unknownDatum = "+proj=tmerc +lat_0=45 +lon_0=3.5 +k=0.9999 +x_0=300000 +y_0=100000 +a=6377000 +b=6356000 +units=m +type=crs"

// placesOfTests are systems, and a position in each as read by GDAL.
var placesOfTests = []struct{ name, system, place string }{
	{"utm", "EPSG:32631", "500000 5500400 500700 5500000"}, {"south", "EPSG:32731", "500000 5500400 500700 5500000"},
	{"lambert93", "EPSG:2154", "700000 6600400 700700 6600000"}, {"degrees", "EPSG:4326", "5 50 5.7 49.6"},
	{"web", "EPSG:3857", "500000 5500400 500700 5500000"}, {"nad83", "EPSG:26915", "500000 4500400 500700 4500000"},
	{"nad27", "EPSG:26715", "500000 4500400 500700 4500000"},
	{"laea", "EPSG:3035", "4321000 3210400 4321700 3210000"}, {"belge", "EPSG:31370", "150000 170400 150700 170000"},
	{"feet", "EPSG:2263", "980000 200400 980700 200000"}, {"north", "EPSG:31466", "2540000 5680600 2540700 5680200"},
	{"tmerc", "+proj=tmerc +lat_0=45 +lon_0=3.5 +k=0.9999 +x_0=300000 +y_0=100000 +datum=WGS84 +units=m +type=crs", "300000 100400 300700 100000"},
	{"shifted", "+proj=tmerc +lat_0=45 +lon_0=3.5 +k=1 +x_0=300000 +y_0=100000 +ellps=bessel +towgs84=598,73,418,0.2,0.05,-2.4,6.7 +units=m +type=crs", "300000 100400 300700 100000"},
	{"unknown", unknownDatum, "300000 100400 300700 100000"},
}

// infoOfGDAL is the output of gdalinfo for a raster.
type infoOfGDAL struct {
	Size        [2]int
	Bands       []any
	WGS84Extent struct{ Coordinates [][]orb.Point }
}

func gdalInfo(t testing.TB, path string) (info infoOfGDAL) {
	t.Helper()
	if err := json.Unmarshal(gdalProgram(t, "gdalinfo", "-json", path), &info); err != nil {
		t.Fatal(err)
	}
	return info
}

// distance returns the distance of a raster's corners from gdalinfo's, in metres.
func distance(got orb.Geometry, want infoOfGDAL) (most float64) {
	polygon, ok := got.(orb.Polygon)
	if !ok || len(want.WGS84Extent.Coordinates) == 0 {
		return math.Inf(1)
	}
	for _, p := range want.WGS84Extent.Coordinates[0] {
		nearest := math.Inf(1)
		for _, q := range polygon[0] {
			dx := math.Remainder(p[0]-q[0], 360) * math.Cos(p[1]*math.Pi/180)
			nearest = min(nearest, math.Hypot(dx, p[1]-q[1])*111320)
		}
		most = max(most, nearest)
	}
	return most
}

// TestHeadersOfOtherFormats expects gdalinfo's size, bands and position, or a reason for no position.
func TestHeadersOfOtherFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it runs GDAL many times")
	}
	drivers := []struct{ file, options, absent string }{ // absent: the systems without a position
		{"a.jp2", "-of JP2OpenJPEG", "north unknown"},
		{"gml.jp2", "-of JP2OpenJPEG -co GeoJP2=NO", "north tmerc shifted unknown"},
		{"gml2.jp2", "-of JP2OpenJPEG -co GeoJP2=NO -co GMLJP2V2_DEF=YES", "north tmerc shifted unknown"},
		{"a.img", "-of HFA", "belge north unknown"},
		{"a.dat", "-of ENVI", "north shifted unknown"},
		{"a.bil", "-of EHdr -b 1", "north shifted unknown"},
		{"a.flt", "-of EHdr -b 1 -ot Float32", "north shifted unknown"},
	}
	var lock sync.Mutex
	compared, largest := 0, 0.0
	t.Run("all", func(t *testing.T) {
		for _, p := range placesOfTests {
			base := filepath.Join(t.TempDir(), "base.tif")
			gdalProgram(t, "gdal_create", append(strings.Fields("-of GTiff -outsize 70 40 -bands 3 -burn 10 -burn 90 -burn 200 -a_srs"),
				append([]string{p.system, "-a_ullr"}, append(strings.Fields(p.place), base)...)...)...)
			for _, d := range drivers {
				t.Run(p.name+"/"+d.file, func(t *testing.T) {
					t.Parallel()
					path := filepath.Join(t.TempDir(), d.file)
					gdalProgram(t, "gdal_translate", append(strings.Fields("-q "+d.options), base, path)...)
					want := gdalInfo(t, path)
					main, beside := openFile(t, path)
					info, err := Describe(context.Background(), main, beside...)
					if err != nil || info.Width != want.Size[0] || info.Height != want.Size[1] || info.Bands != len(want.Bands) {
						t.Fatalf("%+v, %v; want %v, %d bands", info, err, want.Size, len(want.Bands))
					}
					if strings.Contains(" "+d.absent+" ", " "+p.name+" ") {
						if info.Outline != nil || info.Reason == nil {
							t.Errorf("it is at %v, %.1f m from where GDAL has it; %v", info.Outline, distance(info.Outline, want), info.Reason)
						}
						return
					}
					away := distance(info.Outline, want)
					if away > 2 {
						t.Errorf("%v in %v, %v; %.2f m from %v", info.Outline, info.System, info.Reason, away, want.WGS84Extent)
					}
					lock.Lock()
					defer lock.Unlock()
					compared, largest = compared+1, max(largest, away)
				})
			}
		}
	})
	t.Logf("%d positions are within %.3f m of those of gdalinfo", compared, largest)
}

// The types of the values do not matter to the headers.
func TestHeadersOfAllTypes(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base.tif")
	gdalProgram(t, "gdal_create", "-of", "GTiff", "-outsize", "33", "21", "-bands", "2", "-burn", "32", "-a_srs", "EPSG:32631", "-a_ullr",
		"500000", "5500210", "500330", "5500000", base)
	for options, kinds := range map[string]string{
		"-of HFA":                         "Byte UInt16 Int16 UInt32 Int32 Float32 Float64 CFloat32 CFloat64",
		"-of HFA -co NBITS=1":             "Byte",
		"-of HFA -co USE_SPILL=YES":       "Byte",
		"-of HFA -co COMPRESSED=YES":      "Int16",
		"-of ENVI":                        "Byte UInt16 Int16 UInt32 Int32 Float32 Float64 CFloat32 CFloat64",
		"-of ENVI -co INTERLEAVE=BIP":     "UInt16",
		"-of ENVI -co SUFFIX=ADD":         "Byte",
		"-of EHdr":                        "Byte UInt16 Int16 UInt32 Int32 Float32",
		"-of EHdr -b 1 -co NBITS=4":       "Byte",
		"-of JP2OpenJPEG":                 "Byte UInt16 Int16",
		"-of JP2OpenJPEG -co CODEC=J2K":   "Byte",
		"-of JP2OpenJPEG -co JPX=NO -b 1": "Byte",
	} {
		for kind := range strings.FieldsSeq(kinds) {
			path := filepath.Join(t.TempDir(), "a.raw")
			gdalProgram(t, "gdal_translate", append(strings.Fields("-q -ot "+kind+" "+options), base, path)...)
			want := gdalInfo(t, path)
			main, beside := openFile(t, path)
			info, err := Describe(context.Background(), main, beside...)
			if err != nil || info.Kind != "raster" || info.Width != want.Size[0] || info.Height != want.Size[1] ||
				info.Bands != len(want.Bands) || distance(info.Outline, want) > 2 {
				t.Errorf("%s %s: %+v, %v; want %v, %d bands", options, kind, info, err, want.Size, len(want.Bands))
			}
		}
	}
}

// TestOrderOfPlaces: of several positions GDAL's choice counts.
func TestOrderOfPlaces(t *testing.T) {
	folder := t.TempDir()
	base := filepath.Join(folder, "base.tif")
	gdalProgram(t, "gdal_create", "-of", "GTiff", "-outsize", "60", "60", "-bands", "1", "-a_srs", "EPSG:32631", "-a_ullr", "500000", "5500600",
		"500600", "5500000", base)
	const srs = `<SRS dataAxisToSRSAxisMapping="1,2">PROJCS["WGS 84 / UTM zone 32N",AUTHORITY["EPSG","32632"]]</SRS>`
	const transform = `<GeoTransform> 7.0e+05, 10, 0, 5.6e+06, 0, -10</GeoTransform>`
	wkt := strings.ReplaceAll(string(gdalProgram(t, "gdalsrsinfo", "-o", "wkt1", "EPSG:32632")), "\n", "")
	full := strings.Replace(srs, `PROJCS["WGS 84 / UTM zone 32N",AUTHORITY["EPSG","32632"]]`, wkt, 1)
	for _, c := range []struct{ name, options string }{
		{"a.tif", "-of GTiff"}, {"b.tif", "-of GTiff -co PROFILE=BASELINE"}, {"a.jpg", "-of JPEG"}, {"a.png", "-of PNG"},
		{"a.jp2", "-of JP2OpenJPEG"}, {"g.jp2", "-of JP2OpenJPEG -co GeoJP2=NO"}, {"n.jp2", "-of JP2OpenJPEG -co GeoJP2=NO -co GMLJP2=NO"},
		{"a.img", "-of HFA"}, {"a.dat", "-of ENVI"}, {"a.bil", "-of EHdr"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, c.name)
		stem, _ := CutExtension(path)
		gdalProgram(t, "gdal_translate", append(strings.Fields("-q "+c.options), base, path)...)
		for beside, files := range map[string]map[string]string{
			"GDAL's":           {".aux.xml": full + transform},
			"GDAL's system":    {".aux.xml": full},
			"GDAL's transform": {".aux.xml": transform},
			"a world file":     {"wld": "10\n0\n0\n-10\n600005\n5600005\n"},
			"both":             {"wld": "10\n0\n0\n-10\n600005\n5600005\n", ".aux.xml": full + transform},
		} {
			os.Remove(path + ".aux.xml")
			os.Remove(stem + ".wld")
			for suffix, text := range files {
				name := stem + "." + suffix
				if suffix == ".aux.xml" {
					name, text = path+suffix, "<PAMDataset>"+text+"</PAMDataset>"
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want := gdalInfo(t, path)
			main, others := openFile(t, path)
			info, err := Describe(context.Background(), main, others...)
			if placed := len(want.WGS84Extent.Coordinates) > 0; err != nil || placed && distance(info.Outline, want) > 2 || !placed && info.Outline != nil {
				t.Errorf("%s with %s: %v in %v, %v, %v; want %v", c.name, beside, info.Outline, info.System, info.Reason, err, want.WGS84Extent)
			}
		}
	}
}

// damagedHeaders are files of the formats whose headers are read.
func damagedHeaders(t testing.TB) map[string][]byte {
	dir := t.TempDir()
	base := filepath.Join(dir, "base.tif")
	gdalProgram(t, "gdal_create", "-of", "GTiff", "-outsize", "33", "21", "-bands", "2", "-a_srs", "EPSG:2154", "-a_ullr", "700000", "6600210",
		"700330", "6600000", base)
	files := map[string][]byte{}
	for name, options := range map[string]string{"a.jp2": "-of JP2OpenJPEG", "g.jp2": "-of JP2OpenJPEG -co GeoJP2=NO", "a.img": "-of HFA",
		"a.dat": "-of ENVI", "b.bil": "-of EHdr"} {
		gdalProgram(t, "gdal_translate", append(strings.Fields("-q "+options), base, filepath.Join(dir, name))...)
	}
	for _, name := range []string{"a.jp2", "g.jp2", "a.img", "a.hdr", "b.hdr"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

// describeHostile describes a file, or one with it as its header.
func describeHostile(name string, data []byte) (Info, error) {
	file := File{Name: name, Data: strings.NewReader(string(data)), Size: int64(len(data))}
	if strings.HasSuffix(name, ".hdr") {
		main := File{Name: "a.dat", Data: strings.NewReader("\x00\x01\x02"), Size: 3}
		return Describe(context.Background(), main, file)
	}
	return Describe(context.Background(), file)
}

// TestHostileHeaders: headers that were damaged or are malicious are refused, or read, in little
// time and memory.
func TestHostileHeaders(t *testing.T) {
	showPanics = true
	defer func() { showPanics = false }()
	for name, data := range damagedHeaders(t) {
		if info, err := describeHostile(name, data); err != nil || info.Width != 33 {
			t.Fatal(name, info, err)
		}
		check := func(how string, data []byte) {
			allocated := testing.AllocsPerRun(1, func() {
				if _, err := describeHostile(name, data); err != nil && strings.Contains(err.Error(), "it is damaged (") {
					t.Errorf("%s %s: %v", name, how, err)
				}
			})
			if allocated > 400_000 {
				t.Errorf("%s %s: %.0f allocations", name, how, allocated)
			}
		}
		step := max(1, len(data)/150)
		for i := 0; i < len(data); i += step {
			check(fmt.Sprint("cut at ", i), data[:i])
			for _, v := range []byte{0, 1, 0x7f, 0xff} {
				other := []byte(string(data))
				other[i] = v
				check(fmt.Sprintf("with %d at %d", v, i), other)
				for n := range min(4, len(data)-i) {
					other[i+n] = v
				}
				check(fmt.Sprintf("with %d four times at %d", v, i), other)
			}
		}
	}
}

func FuzzHeaders(f *testing.F) {
	for name, data := range damagedHeaders(f) {
		f.Add(name, data)
	}
	f.Add("0.jp2", []byte("\x00\x00\x00\fjP  00000000uuid\xb1K\xf8\xbd\b=KC\xa5\xae\x8c\xd7զ\xce\x030"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		showPanics = true
		if _, err := describeHostile(name, data); err != nil && strings.Contains(err.Error(), "it is damaged (") {
			t.Error(err)
		}
	})
}
