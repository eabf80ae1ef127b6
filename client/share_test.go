package client

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"transect/client/fault"
)

// raster, with further fields, as share_tiles finds it.
func raster(id, more string) string {
	return fmt.Sprintf(`{"_id":%q,"company":"c1","type":"raster","ingestion":{"status":"completed"}%s}`, id, more)
}

func vector(id, more string) string {
	return strings.Replace(raster(id, more), "raster", "vector", 1)
}

const fromService = `,"source":{"name":"map-service"},"components":[{"name":"collection","collection":{"id":"k1"}}]`

func TestTilesOnTheWire(t *testing.T) {
	for _, test := range []struct {
		datasets []string
		args     object
		path     string // of the address
		token    string // body of its creation
	}{
		{[]string{raster("d1", "")}, object{"dataset": "d1"}, "/tileserver/tiles/d1/{z}/{x}/{y}.png", `{"scope":{"datasets":["d1"]},"company":"c1"}`},
		{[]string{raster("d1", `,"tiles":{"format":"webp"}`), raster("d2", `,"tiles":{"format":"webp"}`)}, object{"dataset": list{"d1", "d2"}, "duration": 3600},
			"/tileserver/tiles/d1,d2/{z}/{x}/{y}.webp", `{"scope":{"datasets":["d1","d2"]},"company":"c1","duration":3600}`},
		{[]string{vector("d1", fromService)}, object{"dataset": "d1"}, "/map-service/features/collection-mvt/k1/{z}/{x}/{y}.pbf", `{"scope":{"datasets":["d1"]},"company":"c1"}`},
	} {
		c, r := record(t, map[string]string{dataPath + "describe-datasets": "[" + strings.Join(test.datasets, ",") + "]", accounts + "create-share-token": `{"_id":"t1","token":"a+b"}`})
		v, err := invoke(t, c, "datasets.share_tiles", test.args)
		if err != nil {
			t.Errorf("%v: %v", test.args, err)
			continue
		}
		if want := c.BaseURL() + test.path + "?access_token=a%2Bb"; v.Go != want {
			t.Errorf("the address is %v, want %s", v.Go, want)
		}
		ids := `"d1"`
		if len(test.datasets) > 1 {
			ids += `,"d2"`
		}
		expect(t, r, dataPath+`describe-datasets {"datasets":[`+ids+`]}`, issue+test.token)
	}
}

// Whatever is refused is refused before a token is created.
func TestTilesRefused(t *testing.T) {
	many := make([]string, 151)
	for i := range many {
		many[i] = raster(fmt.Sprint("d", i), "")
	}
	for _, test := range []struct {
		datasets   []string
		name, text string
	}{
		{[]string{strings.Replace(raster("d1", ""), "completed", "running", 1)}, "UnsupportedResourceError", `its status is "running"`},
		{[]string{strings.Replace(raster("d1", ""), "completed", "complet", 1)}, "UnsupportedResourceError", "not ingested"},
		{[]string{`{"_id":"d1","company":"c1","type":"raster"}`}, "UnsupportedResourceError", "not ingested"},
		{[]string{raster("d1", ""), vector("d2", fromService)}, "UnsupportedResourceError", "different types, raster and vector"},
		{[]string{raster("d1", ""), raster("d2", `,"tiles":{"format":"webp"}`)}, "UnsupportedResourceError", "different formats, png and webp"},
		{[]string{vector("d1", fromService), vector("d2", fromService)}, "UnsupportedResourceError", "one at a time, got 2"},
		{[]string{vector("d1", "")}, "UnsupportedResourceError", "is a file"},
		{[]string{vector("d1", `,"source":{"name":"map-service"}`)}, "UnsupportedResourceError", "names no collection"},
		{[]string{strings.Replace(raster("d1", ""), `"raster"`, `"mesh"`, 1)}, "UnsupportedResourceError", "a mesh has no tiles"},
		{many, "RuntimeError", "151 rasters are too many"},
		{[]string{raster("d1", ""), strings.Replace(raster("d2", ""), "c1", "c2", 1)}, "RuntimeError", "belong to 2 companies"},
		{nil, "ParameterError", "at least one dataset"},
	} {
		c, r := record(t, map[string]string{"": "[" + strings.Join(test.datasets, ",") + "]"})
		_, err := invoke(t, c, "datasets.share_tiles", object{"dataset": "d1"})
		if f := fault.Find(err); f == nil || f.Name() != test.name || !strings.Contains(err.Error(), test.text) || f.Facts().Operation != "datasets.share_tiles" {
			t.Errorf("the error is %v, want %s: %s", err, test.name, test.text)
		}
		expect(t, r, dataPath+`describe-datasets {"datasets":["d1"]}`)
	}
	testRefused(t, []refusedCase{{"datasets.share_tiles", object{"dataset": "d1", "extra": object{"a": 1}}, "ParameterError", "takes no extra arguments"}})
}

func TestLongTileAddressesAreWarnedAbout(t *testing.T) {
	for n, warned := range map[int]bool{10: false, 150: true} {
		described := make([]string, n)
		for i := range described {
			described[i] = raster(fmt.Sprintf("%024d", i), "")
		}
		c, _ := record(t, map[string]string{dataPath + "describe-datasets": "[" + strings.Join(described, ",") + "]", accounts + "create-share-token": `{"_id":"t1","token":"t"}`})
		var log bytes.Buffer
		c.log = slog.New(slog.NewTextHandler(&log, nil))
		if _, err := invoke(t, c, "datasets.share_tiles", object{"dataset": "d1"}); err != nil || strings.Contains(log.String(), "address is so long") != warned {
			t.Errorf("%d rasters: %v, log %q", n, err, log.String())
		}
	}
}
