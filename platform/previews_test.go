package platform

import (
	"html"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transect/platform/internal/store"
)

// sharedFile reads a file of the shared data, or skips the test.
func sharedFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../shared/data", name))
	if err != nil {
		t.Skip("the shared data are not here: ", err)
	}
	return string(b)
}

// Every kind of dataset gets what its files say of themselves, and a preview.
func TestContentAndPreviews(t *testing.T) {
	s := start(t, Options{})
	project := s.project("p")
	triangle := "v 0 0 0\nv 10 0 0\nv 10 10 5\nf 1 2 3\n"
	for _, c := range []struct {
		name, kind string
		more       store.Doc
		files      map[string][2]string // by component: name and content
		want       map[string]string
		geometry   string
		warning    string
		preview    string // its format, or why there is none
	}{
		{"geojson", "vector", nil, map[string][2]string{"vector": {"a.geojson", `{"type":"Polygon","coordinates":[[[0,0],[4,0],[0,3],[0,0]]]}`}},
			map[string]string{"feature_count": "1", "format": "geojson"}, "Polygon", "", "png"},
		{"zipped shapefile", "vector", nil, map[string][2]string{"archive": {"cities.zip", sharedFile(t, "vector/cities-shp.zip")}},
			map[string]string{"feature_count": "243", "format": "shapefile"}, "Polygon", "", "png"},
		{"shapefile", "vector", nil, map[string][2]string{"vector": {"w.shp", sharedFile(t, "vector/world-shp/world.shp")}, "database": {"w.dbf", "x"},
			"index": {"w.shx", "x"}, "projection": {"other.prj", sharedFile(t, "vector/world-shp/world.prj")}},
			map[string]string{"feature_count": "177"}, "Polygon", "", "png"},
		{"other datum", "vector", nil, map[string][2]string{"vector": {"nc.gpkg", sharedFile(t, "vector/nc-counties.gpkg")}},
			map[string]string{"feature_count": "100"}, "Polygon", "", "png"},
		{"unknown datum", "vector", nil, map[string][2]string{"vector": {"w.shp", sharedFile(t, "vector/world-shp/world.shp")}, "database": {"w.dbf", "x"},
			"index": {"w.shx", "x"}, "projection": {"w.prj", `GEOGCS["a",DATUM["Site",SPHEROID["GRS 1980",6378137,298.257222101]]]`}},
			map[string]string{"feature_count": "177"}, "", `the datum "Site" is unknown`, "png"},
		{"cloud", "pcl", store.Doc{"horizontal_srs_wkt": utm10}, map[string][2]string{"pcl": {"a.laz", sharedFile(t, "pointcloud/autzen-1065.laz")}},
			map[string]string{"point_count": "1065", "format": "laz"}, "Polygon", "", "png"},
		{"cloud placed by its dataset", "pcl", store.Doc{"horizontal_srs_wkt": utm10}, map[string][2]string{"pcl": {"a.las", sharedFile(t, "pointcloud/autzen-1065.las")}},
			map[string]string{"point_count": "1065"}, "Polygon", "", "png"},
		{"cut cloud", "pcl", nil, map[string][2]string{"pcl": {"a.las", sharedFile(t, "pointcloud/autzen-1065.las")[:3000]}},
			nil, "", "a.las: it cannot be read: it is cut short: 81 of its 1065 points are there", "81 of its 1065 points"},
		{"foreign cloud", "pcl", nil, map[string][2]string{"pcl": {"a.e57", "ASTM-E57"}}, nil, "", "a.e57 was not examined", "files of this kind are not supported"},
		{"mesh", "mesh", store.Doc{"horizontal_srs_wkt": utm10, "offset": []any{500000, 5000000, 0}}, map[string][2]string{"mesh": {"a.obj", triangle}},
			map[string]string{"triangle_count": "1", "vertex_count": "3", "format": "obj"}, "Polygon", "", "png"},
		{"raster", "raster", nil, map[string][2]string{"raster": {"dem.tif", sharedFile(t, "raster/dem-olinda-utm25s.tif")}},
			map[string]string{"width": "111"}, "Polygon", "", "any"},
		{"picture with a world file", "raster", nil, map[string][2]string{"raster": {"a.jpg", string(photo(t, asJPEG))}, "projection": {"a.prj", utm10},
			"worldfile": {"a.jgw", "1\n0\n0\n-1\n500000\n5000000\n"}}, map[string]string{"width": "640", "format": "jpeg"}, "Polygon", "", "any"},
		{"picture with the file of GDAL", "raster", nil, map[string][2]string{"raster": {"a.jpg", string(photo(t, asJPEG))},
			"header": {"a.jpg.aux.xml", "<PAMDataset><SRS>" + html.EscapeString(utm10) + "</SRS><GeoTransform>500000, 1, 0, 5000000, 0, -1</GeoTransform></PAMDataset>"}},
			map[string]string{"width": "640"}, "Polygon", "", "any"},
		{"picture without a place", "raster", nil, map[string][2]string{"raster": {"a.jpg", string(photo(t, asJPEG))}}, map[string]string{"width": "640"}, "",
			"the raster has no position", "any"},
		{"grid", "raster", nil, map[string][2]string{"raster": {"a.asc", "ncols 4\nnrows 2\nxllcorner 500000\nyllcorner 5000000\ncellsize 10\n1 2 3 4\n5 6 7 8\n"},
			"projection": {"a.prj", utm10}}, map[string]string{"width": "4", "format": "aaigrid"}, "Polygon", "", "files of this kind are not supported"},
		{"raw raster with its header", "raster", nil, map[string][2]string{"raster": {"a.bil", "\x00\x01\x02\x03\x04\x05\x06\x07"}, "projection": {"a.prj", utm10},
			"header": {"a.hdr", "NROWS 2\nNCOLS 4\nULXMAP 500000\nULYMAP 5000000\nXDIM 10\nYDIM 10\n"}},
			map[string]string{"width": "4", "format": "ehdr"}, "Polygon", "", "files of this kind are not supported"},
		{"ENVI with the file of GDAL", "raster", nil, map[string][2]string{"raster": {"a.dat", "\x00\x01\x02\x03\x04\x05\x06\x07"}, "header": {"a.hdr", "ENVI\nsamples = 4\nlines = 2\n"},
			"worldfile": {"a.dat.aux.xml", "<PAMDataset><SRS>" + html.EscapeString(utm10) + "</SRS><GeoTransform>500000, 1, 0, 5000000, 0, -1</GeoTransform></PAMDataset>"}},
			map[string]string{"width": "4", "format": "envi"}, "Polygon", "", "files of this kind are not supported"},
		{"photo", "image", nil, map[string][2]string{"image": {"a.jpg", string(photo(t, asJPEG))}}, map[string]string{"width": "640"}, "", "", "jpeg"},
		{"file", "file", nil, map[string][2]string{"file": {"a.txt", "hello"}}, nil, "", "", "files of this kind are not supported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &site{t: t, p: s.p, base: s.base, http: s.http, token: s.token, company: s.company}
			body := store.Doc{"project": project}
			for k, v := range c.more {
				body[k] = v
			}
			var names []string
			for name := range c.files {
				names = append(names, name)
			}
			id := s.dataset(c.kind, body, names...)
			for name, file := range c.files {
				s.upload(id, name, file[0], []byte(file[1]))
			}
			doc := s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "preview.status", statusAvailable, statusFailed)
			if store.Text(doc, "ingestion.status") != statusCompleted || !strings.Contains(store.Text(doc, "ingestion.warning.message"), c.warning) ||
				(c.warning == "") != (store.Lookup(doc, "ingestion.warning") == nil) || store.Text(doc, "geometry.type") != c.geometry {
				t.Errorf("%v %v", doc["ingestion"], doc["geometry"])
			}
			for key, want := range c.want {
				if got := store.Text(doc, key) + text(doc[key]); got != want {
					t.Errorf("%s is %s, want %s", key, got, want)
				}
			}
			a := s.get("/data-manager/download-preview?dataset=" + id)
			if a.status != 200 {
				if message := store.Text(doc, "preview.error.message"); !strings.Contains(message, c.preview) || !strings.Contains(a.text, message) {
					t.Errorf("%d %s, %s", a.status, a.text, message)
				}
				return
			}
			config, format, err := image.DecodeConfig(strings.NewReader(a.text))
			if err != nil || c.preview != "any" && format != c.preview || max(config.Width, config.Height) > 512 || a.header.Get("Content-Type") != "image/"+format {
				t.Errorf("%s %v %v", format, config, err)
			}
			tiny, _, err := image.DecodeConfig(strings.NewReader(s.get("/data-manager/download-preview?dataset=" + id + "&kind=tiny").text))
			if err != nil || max(tiny.Width, tiny.Height) > 128 {
				t.Error(tiny, err)
			}
		})
	}
}

const utm10 = `PROJCS["NAD_1983_UTM_Zone_10N",GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-123.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`

// A dataset that an earlier version ingested gets its preview when it is asked for.
// Preview and dataset are swept together.
func TestPreviewsComeLateAndGoWithTheirDataset(t *testing.T) {
	now := time.Now()
	s := start(t, Options{Now: func() time.Time { return now }})
	project := s.project("p")
	id := s.dataset("image", store.Doc{"project": project}, "image")
	s.upload(id, "image", "a.jpg", photo(t, asJPEG))
	s.until("data-manager/describe-dataset", store.Doc{"dataset": id}, "preview.status", statusAvailable)
	stored := func() (blob string) {
		check(s.p.read(t.Context(), func(t tx) {
			s, _ := t.bytesOf(id, preview)
			blob = s.blob
		}))
		return blob
	}
	first := stored()
	check(s.p.write(t.Context(), func(t tx) {
		doc := t.load(datasets, id)
		t.dropPreview(doc)
		t.replace(datasets, doc)
	}))
	if a := s.get("/data-manager/download-preview?dataset=" + id); a.status != 200 || stored() == "" || stored() == first {
		t.Errorf("%d %.100s %q", a.status, a.text, stored())
	}
	s.expect(s.post("data-manager/create-dataset", store.Doc{"type": "file", "name": "x", "project": project,
		"components": []any{store.Doc{"name": preview}}}), 400, "reserved")
	s.ok("data-manager/delete-datasets", store.Doc{"datasets": []any{id}})
	now = now.Add(DefaultKeepDeleted + time.Hour)
	check(s.p.purge(t.Context()))
	if blob := stored(); blob != "" {
		t.Error("the preview outlives its dataset:", blob)
	}
}

// The preview of a collection shows its features as they are now.
func TestPreviewOfACollection(t *testing.T) {
	s := start(t, Options{})
	project := s.project("p")
	collection := s.ok("map-service/features/create-collection", store.Doc{"company": s.company})["_id"]
	doc := s.ok("data-manager/create-dataset", store.Doc{"type": "vector", "name": "v", "project": project, "source": store.Doc{"name": "map-service"},
		"components": []any{store.Doc{"name": "collection", "collection": store.Doc{"id": collection}}}})
	address := "/data-manager/download-preview?dataset=" + store.Text(doc, "_id")
	s.expect(s.get(address), 404, "it has no shapes")
	s.ok("map-service/features/create-feature", store.Doc{"collection": collection, "properties": store.Doc{},
		"geometry": store.Doc{"type": "LineString", "coordinates": []any{[]any{1, 2}, []any{3, 4}}}})
	if a := s.get(address); a.status != 200 || a.header.Get("Content-Type") != "image/png" {
		t.Errorf("%d %s", a.status, a.text)
	}
}
