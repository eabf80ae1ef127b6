package bindings_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"transect/bindings"
	"transect/client"
	"transect/platform"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// pageServer answers searches with records that are encoded beforehand, so
// that what is measured is the client. Its pool of records repeats.
type pageServer struct {
	records int
	delay   time.Duration
	pool    []byte // records with commas behind them
	ends    []int  // of the records, without comma
}

func newPageServer(records int, delay time.Duration) *pageServer {
	s := &pageServer{records: records, delay: delay}
	for i := range 8192 {
		record, err := json.Marshal(map[string]any{
			"_id": fmt.Sprintf("%024x", i), "name": fmt.Sprintf("DJI_%04d.JPG", i), "type": "image",
			"project": "0123456789abcdef01234567", "mission": "0123456789abcdef01234568", "flight": "0123456789abcdef01234569",
			"company": "0123456789abcdef0123456a", "creation_date": "2026-05-31T08:30:00.000Z", "acquisition_date": "2026-05-31T08:30:00.000Z",
			"width": 4000, "height": 2250, "hidden": false, "published": true, "categories": []string{"rgb", "nadir"},
			"geometry":   map[string]any{"type": "Point", "coordinates": []float64{-91.99455989, 46.84260708, 198.309}},
			"properties": map[string]any{"operator": "north", "battery": 71, "card": "A", "comment": "wind from the west, two gusts, \"sharp\""},
			"components": []any{map[string]any{"name": "image", "status": "completed", "size": 5242880, "checksum": "900150983cd24fb0d6963f7d28e17f72", "filename": "DJI_0018.JPG"}},
			"ingestion":  map[string]any{"status": "completed", "date": "2026-05-31T09:00:00.000Z"},
		})
		if err != nil {
			panic(err)
		}
		s.pool = append(s.pool, record...)
		s.ends = append(s.ends, len(s.pool))
		s.pool = append(s.pool, ',')
	}
	return s
}

func (s *pageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/dxauth/oauth/token" {
		io.WriteString(w, `{"access_token":"t","token_type":"bearer","expires_in":36000}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	time.Sleep(s.delay)
	limit := int(gjson.GetBytes(body, "limit").Int())
	start := min(int(gjson.GetBytes(body, "page").Int())*limit, s.records)
	end := min(start+limit, s.records)
	var parts [][]byte
	size := 0
	for at := start; at < end; {
		first := at % len(s.ends)
		n := min(end-at, len(s.ends)-first)
		from, to := 0, s.ends[first+n-1]
		if first > 0 {
			from = s.ends[first-1] + 1
		}
		if at += n; at < end {
			to++ // with its comma
		}
		parts = append(parts, s.pool[from:to])
		size += to - from
	}
	head, tail := `{"results":[`, fmt.Sprintf(`],"total":%d}`, s.records)
	w.Header().Set("Content-Length", fmt.Sprint(len(head)+size+len(tail)))
	io.WriteString(w, head)
	for _, p := range parts {
		w.Write(p)
	}
	io.WriteString(w, tail)
}

// searcher is an interpreter connected to a URL.
func searcher(t testing.TB, s client.Settings) *vm.Interp {
	in := luastd.New(context.Background(), vm.Options{Stdout: io.Discard, Stderr: os.Stderr, Dir: t.TempDir(), Progress: vm.ProgressQuiet})
	t.Cleanup(in.Close)
	module.Preload(in, stdlib.Modules()...)
	bindings.Open(in, func(ctx context.Context, _ *client.Settings) (*client.Client, error) {
		return client.New(ctx, s, client.Options{Env: func(string) (string, bool) { return "", false }})
	})
	return in
}

// throughAll reads the name of each dataset from Lua.
func throughAll(t testing.TB, in *vm.Interp, arguments string, want int) {
	t.Helper()
	code := fmt.Sprintf(`local n = 0
for d in require("sdk").datasets.search_generator{%s} do if #d.name > 0 then n = n + 1 end end
assert(n == %d, n)`, arguments, want)
	if _, err := in.RunString("bench", code); err != nil {
		t.Fatal(vm.Failure(err).Err)
	}
}

// naive asks for one page of limit records after the other, decodes it into
// maps and reads the name of each.
func naive(t testing.TB, url, token string, limit, records int) {
	t.Helper()
	seen := 0
	for page := 0; seen < records; page++ {
		request, err := http.NewRequest("POST", url+"/data-manager/search-datasets",
			strings.NewReader(fmt.Sprintf(`{"filter":{},"limit":%d,"page":%d,"sort":{"_id":1}}`, limit, page)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var decoded map[string]any
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err := json.Unmarshal(body, &decoded); err != nil {
			t.Fatal(err)
		}
		results, _ := decoded["results"].([]any)
		for _, record := range results {
			if name, _ := record.(map[string]any)["name"].(string); name == "" {
				t.Fatal("no name")
			}
			seen++
		}
		if len(results) == 0 {
			t.Fatalf("the pages ended after %d records: %.200s", seen, body)
		}
	}
}

// benchRecords is how many records the benchmarks go through.
// TRANSECT_BENCH_RECORDS sets another number; 200000 is a fair one.
func benchRecords(b *testing.B) int {
	text := os.Getenv("TRANSECT_BENCH_RECORDS")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkSearchGenerator goes through many records over loopback HTTP from
// Lua and says how many times faster that is than the naive way, and with how
// much less work of the processor. The naive way is sequential, so a part of
// the records is enough to time it. Both take turns, and the quickest round of
// each counts: on a busy machine the others tell of the neighbours.
func BenchmarkSearchGenerator(b *testing.B) {
	for _, c := range []struct {
		name, arguments string
		naive           int // records a page of the naive way
		delay           time.Duration
	}{
		{"loopback", "", 50, 0},
		{"loopback limit 50", "limit = 50", 50, 0},
		{"loopback limit 500", "limit = 500", 500, 0},
		{"latency 20ms", "", 50, 20 * time.Millisecond},
		{"latency 20ms limit 50", "limit = 50", 50, 20 * time.Millisecond},
	} {
		b.Run(c.name, func(b *testing.B) {
			records := benchRecords(b)
			sample := min(records, 10_000)
			server := httptest.NewServer(newPageServer(records, c.delay))
			defer server.Close()
			in := searcher(b, client.Settings{URL: server.URL, User: "ann", Password: "secret"})
			slow, ours := newLap(), newLap()
			for b.Loop() {
				slow.time(sample, func() { naive(b, server.URL, "t", c.naive, sample) })
				ours.time(records, func() { throughAll(b, in, c.arguments, records) })
			}
			b.ReportMetric(ours.took*1e6, "µs/record")
			b.ReportMetric(slow.took*1e6, "naive_µs/record")
			b.ReportMetric(slow.took/ours.took, "times_naive")
			if ours.worked > 0 {
				b.ReportMetric(slow.worked/ours.worked, "times_naive_cpu")
			}
		})
	}
}

// lap keeps the quickest round, in seconds a record.
type lap struct{ took, worked float64 }

func newLap() *lap { return &lap{math.Inf(1), math.Inf(1)} }

func (l *lap) time(records int, f func()) {
	began, before := time.Now(), processorTime()
	f()
	l.took = min(l.took, time.Since(began).Seconds()/float64(records))
	l.worked = min(l.worked, (processorTime()-before).Seconds()/float64(records))
}

// BenchmarkSearchLocalPlatform is the same against the local platform.
func BenchmarkSearchLocalPlatform(b *testing.B) {
	p, err := platform.Open(b.Context(), platform.Options{Memory: true})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	server := httptest.NewServer(p.Handler())
	defer server.Close()
	who := p.Credentials()
	in := searcher(b, client.Settings{URL: server.URL, User: who.User, Password: who.Password, ClientID: who.ClientID, ClientSecret: who.ClientSecret})
	const records = 10_000
	if _, err := in.RunString("fill", fmt.Sprintf(`
local sdk = require("sdk")
local project = sdk.projects.create("bench", sdk.users.describe().company)
for b = 1, %d / 1000 do
  local list = {}
  for i = 1, 1000 do list[i] = { name = "DJI_" .. b .. "_" .. i, type = "image", project = project.id, width = 4000, height = 2250,
    properties = { operator = "north", battery = 71, card = "A" }, components = { { name = "image" } } } end
  sdk.datasets.create_datasets(list)
end`, records)); err != nil {
		b.Fatal(vm.Failure(err).Err)
	}
	answer, err := http.PostForm(server.URL+"/dxauth/oauth/token", url.Values{"grant_type": {"password"}, "username": {who.User},
		"password": {who.Password}, "client_id": {who.ClientID}, "client_secret": {who.ClientSecret}})
	if err != nil {
		b.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	token := gjson.GetBytes(body, "access_token").String()
	slow, ours := newLap(), newLap()
	for b.Loop() {
		slow.time(records, func() { naive(b, server.URL, token, 50, records) })
		ours.time(records, func() { throughAll(b, in, "", records) })
	}
	b.ReportMetric(slow.took/ours.took, "times_naive")
}

// TestMemoryOfALongSearch goes through many records in a process of its own,
// which may not take more memory for that than 128 MiB. A million takes a
// while: TRANSECT_BENCH_RECORDS=1000000 asks for it.
func TestMemoryOfALongSearch(t *testing.T) {
	const maxMiB = 128
	records := 100_000
	if text := os.Getenv("TRANSECT_BENCH_RECORDS"); text != "" {
		var err error
		if records, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	if address := os.Getenv("TRANSECT_SEARCH_URL"); address != "" {
		throughAll(t, searcher(t, client.Settings{URL: address, User: "ann", Password: "secret"}), "", records)
		return
	}
	if testing.Short() {
		t.Skip("left out by -short: it searches a hundred thousand records")
	}
	server := httptest.NewServer(newPageServer(records, 0))
	defer server.Close()
	child := exec.Command(os.Args[0], "-test.run=^TestMemoryOfALongSearch$")
	child.Env = append(os.Environ(), "TRANSECT_SEARCH_URL="+server.URL)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	peak := peakMemory(child.ProcessState) >> 20
	t.Logf("%d records with %d MiB at most", records, peak)
	if peak > maxMiB {
		t.Errorf("%d MiB were used", peak)
	}
}
