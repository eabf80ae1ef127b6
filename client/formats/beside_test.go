package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/testdata/tiffgen"
)

// esriText returns the text of a system as written by Esri's software.
func esriText(meridian int) string {
	return fmt.Sprintf(`PROJCS["Mine",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],`+
		`PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],`+
		`PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",%d.0],PARAMETER["Scale_Factor",0.9996],`+
		`PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`, meridian)
}

// TestTextOfEsriInACitation uses the citation's text by Esri when the keys do not name a system.
// GDAL reads it from some keys only, but it is always right.
func TestTextOfEsriInACitation(t *testing.T) {
	key := func(code, place, count, value float64) []float64 { return []float64{code, place, count, value} }
	text := "ESRI PE String = " + esriText(4) + "|"
	cited := func(code float64) []float64 { return key(code, 34737, float64(len(text)), 0) }
	projected, user, base := key(1024, 0, 1, 1), key(3072, 0, 1, 32767), key(2048, 0, 1, 4326)
	transverse := [][]float64{key(3074, 0, 1, 32767), key(3075, 0, 1, 1), key(3076, 0, 1, 9001), key(3080, 34736, 1, 0),
		key(3081, 34736, 1, 1), key(3082, 34736, 1, 2), key(3083, 34736, 1, 3), key(3092, 34736, 1, 4)}
	for name, c := range map[string]struct {
		keys     [][]float64
		meridian float64
		gdal     bool // GDAL reads it
	}{
		"another model":                  {[][]float64{key(1024, 0, 1, 32767), cited(3073)}, 4, true},
		"another model, in general":      {[][]float64{key(1024, 0, 1, 32767), cited(1026)}, 4, false},
		"no parameters":                  {[][]float64{projected, base, user, cited(3073)}, 4, false},
		"no parameters, in general":      {[][]float64{projected, cited(1026), base, user}, 4, false},
		"no code":                        {[][]float64{projected, cited(3073)}, 4, false},
		"an unknown method":              {[][]float64{projected, base, user, cited(3073), key(3074, 0, 1, 32767), key(3075, 0, 1, 32767)}, 4, false},
		"parameters go before":           {append([][]float64{projected, base, user, cited(3073)}, transverse...), 9, true},
		"so does a code of the register": {[][]float64{projected, key(3072, 0, 1, 32631), cited(3073)}, 3, true},
		"even an unknown one":            {[][]float64{projected, key(3072, 0, 1, 31466), cited(3073)}, 0, false},
	} {
		directory := []float64{1, 1, 0, float64(len(c.keys))}
		for _, k := range c.keys {
			directory = append(directory, k...)
		}
		data := tiffgen.File(tiffgen.Options{}, tiffgen.Image{Width: 20, Height: 10, EPSG: 32631, X: 500000, Y: 5500000, Pixel: 10,
			Extra: []tiffgen.Field{{Tag: 34735, Kind: 3, Numbers: directory}, {Tag: 34736, Kind: 12, Numbers: []float64{9, 0, 500000, 0, 0.9996}},
				{Tag: 34737, Kind: 2, Text: text}}})
		info, err := extent(t, "a.tif", data)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case c.meridian == 0 && info.Outline == nil && info.Reason != nil:
		case info.Outline == nil || math.Abs(info.Outline.Bound().Min[0]-c.meridian) > 1e-6:
			t.Errorf("%s: %v in %v, %v", name, info.Outline, info.System, info.Reason)
		}
		if !c.gdal {
			continue
		}
		path := filepath.Join(t.TempDir(), "a.tif")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if away := distance(info.Outline, gdalInfo(t, path)); away > 2 {
			t.Errorf("%s: it is %.1f m from where GDAL has it", name, away)
		}
	}
}

// cloudOf returns a LAS file of two points, without a reference system.
func cloudOf(x, y float64) []byte {
	const header, record = 227, 20
	b := make([]byte, header+2*record)
	copy(b, "LASF")
	b[24], b[25] = 1, 2
	binary.LittleEndian.PutUint16(b[94:], header)
	binary.LittleEndian.PutUint32(b[96:], header)
	binary.LittleEndian.PutUint16(b[105:], record)
	binary.LittleEndian.PutUint32(b[107:], 2)
	for i, v := range []float64{1, 1, 1, x, y, 0, x + 100, x, y + 100, y, 0, 0} {
		binary.LittleEndian.PutUint64(b[131+8*i:], math.Float64bits(v))
	}
	binary.LittleEndian.PutUint32(b[header+record:], 100)
	binary.LittleEndian.PutUint32(b[header+record+4:], 100)
	return b
}

// TestProjectionBesideACloud: a point cloud uses its projection file unless it has its own system.
func TestProjectionBesideACloud(t *testing.T) {
	ctx := context.Background()
	data := cloudOf(500000, 5500000)
	cloud := File{Name: "a.las", Data: bytes.NewReader(data), Size: int64(len(data))}
	beside := func(text string) File {
		return File{Name: "a.prj", Data: strings.NewReader(text), Size: int64(len(text))}
	}
	info, err := Describe(ctx, cloud, beside(esriText(4)))
	if err != nil || info.Outline == nil || math.Abs(info.Outline.Bound().Min[0]-4) > 1e-6 {
		t.Errorf("%+v, %v", info, err)
	}
	local := strings.Replace(esriText(4), "D_WGS_1984", "D_Somewhere", 1)
	if info, err = Describe(ctx, cloud, beside(local)); err != nil || info.Outline != nil || !strings.Contains(fmt.Sprint(info.Reason), "Somewhere") {
		t.Errorf("%+v, %v", info, err)
	}
	for text, want := range map[string]string{" " + esriText(4) + "\n": esriText(4), local: local, "Projection UTM\nZone 31": "",
		strings.Repeat(" ", maxProjection) + esriText(4): ""} {
		if got := ProjectionBeside(ctx, cloud, beside(text)); got != want {
			t.Errorf("%.40q gives %q", text, got)
		}
	}
	own := sample(t, "pointcloud/brighton-model.laz")
	if got := ProjectionBeside(ctx, File{Name: "b.laz", Data: bytes.NewReader(own), Size: int64(len(own))}, beside(esriText(4))); got != "" {
		t.Errorf("the cloud has its own system, and gets %s", got)
	}
}

// TestLongFileOfGDAL reads the data that GDAL writes about a raster after long tables.
func TestLongFileOfGDAL(t *testing.T) {
	table := strings.Repeat("<Row><F>1234567890</F></Row>", 100_000)
	world, projection := auxiliary(strings.NewReader("<PAMDataset><SRS>X</SRS><T>" + table + "</T><GeoTransform>1,2,0,3,0,-2</GeoTransform></PAMDataset>"))
	if world != "2 0 0 -2 2 2" || projection != "X" {
		t.Errorf("%q %q", world, projection)
	}
}
