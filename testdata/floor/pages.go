package floor

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// poolSize is the number of records that are encoded: a longer search repeats them.
const poolSize = 8192

// pool holds the records with commas behind them, and where each ends.
var pool = sync.OnceValues(func() (text []byte, ends []int) {
	for i := range poolSize {
		record, err := json.Marshal(map[string]any{
			"_id": fmt.Sprintf("%024x", i), "name": fmt.Sprintf("DJI_%04d.JPG", i), "type": "image",
			"project": "0123456789abcdef01234567", "mission": "0123456789abcdef01234568",
			"flight": "0123456789abcdef01234569", "company": "0123456789abcdef0123456a",
			"creation_date": "2026-05-31T08:30:00.000Z", "acquisition_date": "2026-05-31T08:30:00.000Z",
			"width": 4000, "height": 2250, "hidden": false, "published": true, "categories": []string{"rgb", "nadir"},
			"geometry": map[string]any{"type": "Point", "coordinates": []float64{-91.99455989, 46.84260708, 198.309}},
			"properties": map[string]any{"operator": "north", "battery": 71, "card": "A",
				"comment": "wind from the west, two gusts, \"sharp\""},
			"components": []any{map[string]any{"name": "image", "status": "completed", "size": 5242880,
				"checksum": "900150983cd24fb0d6963f7d28e17f72", "filename": "DJI_0018.JPG"}},
			"ingestion": map[string]any{"status": "completed", "date": "2026-05-31T09:00:00.000Z"},
		})
		if err != nil {
			panic(err) // plain values always have a form
		}
		text = append(text, record...)
		ends = append(ends, len(text))
		text = append(text, ',')
	}
	return text, ends
})

// search answers with a page of the records.
func (s *Server) search(w http.ResponseWriter, body []byte) {
	limit := int(gjson.GetBytes(body, "limit").Int())
	start := min(int(gjson.GetBytes(body, "page").Int())*limit, s.Records)
	end := min(start+limit, s.Records)
	text, ends := pool()
	var parts [][]byte
	size := 0
	for at := start; at < end; {
		first := at % poolSize
		n := min(end-at, poolSize-first)
		from, to := 0, ends[first+n-1]
		if first > 0 {
			from = ends[first-1] + 1
		}
		if at += n; at < end {
			to++ // with its comma
		}
		parts = append(parts, text[from:to])
		size += to - from
	}
	head, tail := `{"results":[`, fmt.Sprintf(`],"total":%d}`, s.Records)
	w.Header().Set("Content-Length", strconv.Itoa(len(head)+size+len(tail)))
	io.WriteString(w, head)
	for _, p := range parts {
		w.Write(p)
	}
	io.WriteString(w, tail)
}

// SearchNaively reads the names of some records as the platform's Python SDK does:
// one page of limit records after the other, each decoded whole.
func (s *Server) SearchNaively(tb testing.TB, limit, records int) {
	for page := 0; page*limit < records; page++ {
		r, err := http.NewRequest(http.MethodPost, s.URL+"/data-manager/search-datasets",
			strings.NewReader(fmt.Sprintf(`{"filter":{},"limit":%d,"page":%d,"sort":{"_id":1}}`, limit, page)))
		if err != nil {
			tb.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		var answer struct {
			Results []map[string]any `json:"results"`
		}
		if err := json.Unmarshal(do(tb, r), &answer); err != nil {
			tb.Fatal(err)
		}
		for _, record := range answer.Results {
			if name, _ := record["name"].(string); name == "" {
				tb.Fatal("no name")
			}
		}
	}
}
