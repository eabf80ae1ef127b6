package main

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"transect/client/imagery/flightgen"
)

// BenchmarkIngest brings images of 200 KB to a platform in a process of its
// own, by ingest.run in a script and the naive way: one file after the other,
// four requests each, encoding/json into maps. It reports how many times faster
// the script is, per file, with its start and everything. TRANSECT_BENCH_FILES
// is the number of files, 1000 for the figure that counts.
//
// The platform answers once what it was told is on the disk. One request after
// the other waits for the disk each time; requests side by side share a write
// and its wait, and are bound by the processor: most of it goes to the
// platform's statements, the checksums, and the reading of each image.
func BenchmarkIngest(b *testing.B) {
	files := 100
	if text := os.Getenv("TRANSECT_BENCH_FILES"); text != "" {
		var err error
		if files, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for name, delay := range map[string]time.Duration{"loopback": 0, "20ms": 20 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			h := newHome(b, files, flightgen.Options{FileSize: 200 << 10})
			s := serve(b, h, "--latency", delay.String())
			h.file("ingest.lua", ingestScript)
			h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_USER=" + s.User, "TRANSECT_PASSWORD=" + s.Password,
				"TRANSECT_CLIENT_ID=" + s.ClientID, "TRANSECT_CLIENT_SECRET=" + s.ClientSecret}
			var slow, least, fast time.Duration
			some := files
			if delay > 0 {
				some = min(files, 100) // the time of one does not depend on their number
			}
			for i := 0; b.Loop(); i++ {
				n := &naive{b: b, url: s.URL}
				n.signIn(s)
				began := time.Now()
				n.ingest(filepath.Join(h.dir, "flight"), fmt.Sprint("naive ", i), some)
				slow += time.Since(began) / time.Duration(some)
				if delay == 0 {
					least += floor(b, filepath.Join(h.dir, "flight"))
				}
				began = time.Now()
				out := h.must("run", "ingest.lua", "flight", fmt.Sprint("fast ", i))
				fast += time.Since(began) / time.Duration(files)
				var a ingestAnswer
				if err := json.Unmarshal([]byte(out), &a); err != nil || a.Created != files {
					b.Fatal(err, out)
				}
			}
			b.ReportMetric(slow.Seconds()/fast.Seconds(), "times-faster")
			if least > 0 {
				b.ReportMetric(slow.Seconds()/least.Seconds(), "times-at-most")
			}
			b.ReportMetric(slow.Seconds()*1000/float64(b.N), "naive-ms/file")
			b.ReportMetric(fast.Seconds()*1000/float64(b.N), "ingest-ms/file")
		})
	}
}

// naive is a client as people write it in an afternoon.
type naive struct {
	b          *testing.B
	url, token string
}

func (n *naive) do(r *http.Request) map[string]any {
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		n.b.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		n.b.Fatal(err, answer.Status, string(body))
	}
	var out map[string]any
	if len(body) > 0 {
		if err := json.Unmarshal(body, &out); err != nil {
			n.b.Fatal(err)
		}
	}
	return out
}

func (n *naive) call(path string, body map[string]any) map[string]any {
	text, err := json.Marshal(body)
	if err != nil {
		n.b.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, n.url+path, bytes.NewReader(text))
	if err != nil {
		n.b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+n.token)
	r.Header.Set("Content-Type", "application/json")
	return n.do(r)
}

func (n *naive) signIn(s served) {
	body, err := json.Marshal(map[string]any{"grant_type": "password", "username": s.User, "password": s.Password})
	if err != nil {
		n.b.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, n.url+"/dxauth/oauth/token", bytes.NewReader(body))
	if err != nil {
		n.b.Fatal(err)
	}
	r.SetBasicAuth(s.ClientID, s.ClientSecret)
	n.token = n.do(r)["access_token"].(string)
}

func (n *naive) ingest(folder, project string, files int) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		n.b.Fatal(err)
	}
	me := n.call("/dxauth/describe-user", map[string]any{})
	p := n.call("/project-manager/projects", map[string]any{"name": project, "company": me["company"]})
	if inner, ok := p["project"].(map[string]any); ok {
		p = inner
	}
	for _, e := range entries[:files] {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			n.b.Fatal(err)
		}
		sum := md5.Sum(data)
		d := n.call("/data-manager/create-dataset", map[string]any{"name": e.Name(), "type": "image", "project": p["_id"],
			"components": []any{map[string]any{"name": "image"}}})
		to := n.call("/data-manager/init-upload-component", map[string]any{"dataset": d["_id"], "component": "image",
			"filename": e.Name(), "checksum": hex.EncodeToString(sum[:])})
		r, err := http.NewRequest(http.MethodPut, to["put_url"].(string), bytes.NewReader(data))
		if err != nil {
			n.b.Fatal(err)
		}
		for name, value := range to["headers"].(map[string]any) {
			r.Header.Set(name, value.(string))
		}
		n.do(r)
		n.call("/data-manager/complete-upload-component", map[string]any{"dataset": d["_id"], "component": "image"})
	}
}
