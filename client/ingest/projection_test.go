package ingest

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestProjectionOfACloud: a point cloud without a reference system gets the adjacent one, whose
// file is sent as an item of its own as well.
func TestProjectionOfACloud(t *testing.T) {
	const header, record = 227, 20
	cloud := make([]byte, header+2*record)
	copy(cloud, "LASF")
	cloud[24], cloud[25] = 1, 2
	binary.LittleEndian.PutUint16(cloud[94:], header)
	binary.LittleEndian.PutUint32(cloud[96:], header)
	binary.LittleEndian.PutUint16(cloud[105:], record)
	binary.LittleEndian.PutUint32(cloud[107:], 2)
	for i, v := range []float64{1, 1, 1, 500000, 5500000, 0, 500100, 500000, 5500100, 5500000, 0, 0} {
		binary.LittleEndian.PutUint64(cloud[131+8*i:], math.Float64bits(v))
	}
	binary.LittleEndian.PutUint32(cloud[header+record:], 100)
	folder := t.TempDir()
	wkt := `PROJCS["WGS 84 / UTM zone 31N",GEOGCS["WGS 84",DATUM["WGS_1984"]],AUTHORITY["EPSG","32631"]]`
	for name, content := range map[string][]byte{"a.las": cloud, "a.prj": []byte(wkt), "b.las": append(cloud, 0)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, nil)
	w.run(folder)
	found := map[string]string{}
	for _, d := range w.datasets() {
		found[d.Name] = d.HorizontalSRSWKT
	}
	if len(found) != 3 || found["a.las"] == "" || found["b.las"] != "" || found["a.prj"] != "" {
		t.Errorf("%v", found)
	}
}
