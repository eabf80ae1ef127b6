package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tidwall/gjson"
)

// pageOf returns the answer of a search with n records of about 900 bytes.
func pageOf(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"total":` + fmt.Sprint(n) + `,"results":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		record := map[string]any{
			"_id": fmt.Sprintf("%024x", i), "name": fmt.Sprintf("DJI_%04d.JPG", i), "type": "image",
			"project": "0123456789abcdef01234567", "mission": "0123456789abcdef01234568", "flight": "0123456789abcdef01234569",
			"company": "0123456789abcdef0123456a", "creation_date": "2026-05-31T08:30:00.000Z", "acquisition_date": "2026-05-31T08:30:00.000Z",
			"width": 4000, "height": 2250, "hidden": false, "published": true, "categories": []string{"rgb", "nadir"},
			"geometry":   map[string]any{"type": "Point", "coordinates": []float64{-91.99455989, 46.84260708, 198.309}},
			"properties": map[string]any{"operator": "north", "battery": 71, "card": "A", "comment": "wind from the west, two gusts, \"sharp\""},
			"components": []any{map[string]any{"name": "image", "status": "completed", "size": 5242880, "checksum": "900150983cd24fb0d6963f7d28e17f72", "filename": "DJI_0018.JPG"}},
			"ingestion":  map[string]any{"status": "completed", "date": "2026-05-31T09:00:00.000Z"},
		}
		text, _ := json.Marshal(record)
		b.Write(text)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func TestSplitPage(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		items int
		total int64
		fails bool
	}{
		"both":              {`{"results":[{"a":1},{"b":[{}]}],"total":7}`, 2, 7, false},
		"total first":       {` {"total":0, "results" : [ ] } `, 0, 0, false},
		"no total":          {`{"results":[{"_id":"x"}]}`, 1, -1, false},
		"further keys":      {`{"x":{"results":[1]},"results":[],"y":null}`, 0, -1, false},
		"total not counted": {`{"results":[],"total":null}`, 0, -1, false},
		"no results":        {`{"total":3}`, 0, 0, true},
		"an array":          {`[]`, 0, 0, true},
		"cut off":           {`{"results":[{"a":1},{"b"`, 0, 0, true},
		"empty":             {``, 0, 0, true},
		"a page":            {`<html>`, 0, 0, true},
	} {
		items, total, err := splitPage([]byte(c.body))
		if (err != nil) != c.fails || err == nil && (len(items) != c.items || total != c.total) {
			t.Errorf("%s: %d items, total %d, error %v", name, len(items), total, err)
		}
	}
}

// FuzzSplitPage compares the splitter with the standard library: the same records and total, or an
// error of both.
func FuzzSplitPage(f *testing.F) {
	f.Add([]byte(`{"results":[{"a":1},{"b":2}],"total":2}`))
	f.Add(pageOf(2))
	for _, text := range []string{
		`{"results":[1],"results":[2,3],"total":1,"total":null}`, `{"results":[{"a":1,"a":2}],"total":1e3}`,
		`{"re\u0073ults":[ 1 , "a\ud800" ],"total":-4}`, "{\"results\":[\"\xff\"],\"total\":2.0}",
		`{"results":[],"results":null}`, `{"Results":[1],"total":3}`, `{"results":[]} x`, `{"results":[]}{}`, `{"results":[1,]}`,
		`{"results":[],"total":99999999999999999999}`, ` { "results" : [ [ ] , { } ] } `, `null`, "\xef\xbb\xbf{\"results\":[]}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		items, total, err := splitPage(body)
		want, wantTotal, ok := standardPage(body)
		if (err == nil) != ok {
			t.Fatalf("error %v, the standard library accepts it: %v", err, ok)
		}
		if !ok {
			return
		}
		if len(items) != len(want) || total != wantTotal {
			t.Fatalf("%d items of %d, want %d of %d", len(items), total, len(want), wantTotal)
		}
		for i := range items {
			if !bytes.Equal(items[i], want[i]) {
				t.Fatalf("item %d: %s, want %s", i, items[i], want[i])
			}
		}
	})
}

// standardPage reads a page with the standard library; ok is false for anything else.
func standardPage(body []byte) (items []json.RawMessage, total int64, ok bool) {
	var page map[string]json.RawMessage
	if json.Unmarshal(body, &page) != nil || json.Unmarshal(page["results"], &items) != nil || items == nil {
		return nil, 0, false
	}
	total = -1
	if json.Unmarshal(page["total"], &total) != nil || total < 0 {
		total = -1
	}
	return items, total, true
}

// BenchmarkPage compares splitting a page of 1,000 records and reading one
// field of each with decoding them all into maps.
func BenchmarkPage(b *testing.B) {
	body := pageOf(1000)
	b.Run("split", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			items, _, err := splitPage(body)
			if err != nil {
				b.Fatal(err)
			}
			for _, item := range items {
				if gjson.GetBytes(item, "name").Str == "" {
					b.Fatal("no name")
				}
			}
		}
	})
	b.Run("maps", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			var page struct {
				Results []map[string]any `json:"results"`
			}
			if err := json.Unmarshal(body, &page); err != nil {
				b.Fatal(err)
			}
			for _, item := range page.Results {
				if item["name"] == "" {
					b.Fatal("no name")
				}
			}
		}
	})
}
