package platform

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"transect/platform/internal/store"
)

// Whatever a request holds, it is answered, and not by a failure of the platform.
func TestHostileRequestsAreNoFailures(t *testing.T) {
	s := inside(t, Options{})
	project := s.project("Quarry")
	id := s.dataset("file", store.Doc{"project": project}, "file")
	token := s.share(0, id)
	if a := s.tile(id, 0, 0, 0, token); a.status != http.StatusNotFound {
		t.Errorf("a tile of a file: %d %s", a.status, a.text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	values := []any{nil, true, 0, -1, 1e308, 1 << 40, 0.5, "", "x", "\u0000\u202e", "../../etc/passwd", id, project, token,
		"2026-01-01T00:00:00.000Z", []any{}, []any{1, "x", nil}, []any{id, id}, map[string]any{}, map[string]any{"$eq": 1},
		map[string]any{"$regex": "("}, map[string]any{"$or": "x"}, map[string]any{"type": "Point", "coordinates": []any{1e99, "x"}},
		map[string]any{"a": map[string]any{"b": []any{map[string]any{}}}}}
	pick := func() any { return values[random.IntN(len(values))] }
	text := func() string {
		return []string{"x", "-1", "999999999999", id, id + "," + id, token, "%00", "..%2f..", "0.png", "1e9"}[random.IntN(10)]
	}
	argument := regexp.MustCompile(`\{[^}]*\}`)
	for _, rt := range allRoutes() {
		keys := []string{"filter", "sort", "limit", "page", "fields", "dataset", "component", "access_token", "name", "x"}
		keys = append(keys, rt.keys...)
		if rt.op != nil {
			for _, p := range rt.op.Params {
				keys = append(keys, p.Key)
			}
		}
		for range 40 {
			body, query := map[string]any{}, url.Values{}
			for range random.IntN(6) {
				body[keys[random.IntN(len(keys))]] = pick()
				query.Set(keys[random.IntN(len(keys))], text())
			}
			data, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			if random.IntN(8) == 0 {
				data = data[:random.IntN(len(data)+1)]
			}
			path := "/" + argument.ReplaceAllStringFunc(rt.path, func(string) string { return text() })
			r := s.request(rt.method, path+"?"+query.Encode(), bytes.NewReader(data))
			r.Header.Set("Content-Type", "application/json")
			if a := s.do(r); a.status >= http.StatusInternalServerError {
				t.Errorf("%s %s?%s %s: %d %s", rt.method, path, query.Encode(), data, a.status, a.text)
			}
		}
	}
}
