package main

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"transect/testdata/flightgen"
	"transect/testdata/floor"
)

// BenchmarkIngest ingests images of 200 kB by ingest.run in a script, and one
// by one the way a script without it does: create, init, PUT, complete. The
// server keeps nothing and runs in the process of the benchmark; the client's
// processor time is that of its own process, with its start and everything.
// TRANSECT_BENCH_FILES is the number of files, 1000 for the figures that count.
func BenchmarkIngest(b *testing.B) {
	files := 100
	if text := os.Getenv("TRANSECT_BENCH_FILES"); text != "" {
		var err error
		if files, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for name, latency := range map[string]time.Duration{"loopback": 0, "20ms": 20 * time.Millisecond} {
		b.Run(name, func(b *testing.B) {
			h := newHome(b, files, flightgen.Options{FileSize: 200 << 10})
			s := floor.Serve(b, latency)
			h.file("ingest.lua", ingestScript)
			h.settings = []string{"TRANSECT_URL=" + s.URL, "TRANSECT_ACCESS_TOKEN=token"}
			var slow, fast, processor time.Duration
			some := files
			if latency > 0 {
				some = min(files, 100) // the time of one does not depend on their number
			}
			for i := 0; b.Loop(); i++ {
				n := &naive{b: b, url: s.URL}
				began := time.Now()
				n.ingest(filepath.Join(h.dir, "flight"), fmt.Sprint("naive ", i), some)
				slow += time.Since(began) / time.Duration(some)
				cmd := h.command("run", "ingest.lua", "flight", fmt.Sprint("fast ", i))
				cmd.Stderr = os.Stderr
				began = time.Now()
				out, err := cmd.Output()
				fast += time.Since(began) / time.Duration(files)
				processor += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()) / time.Duration(files)
				var a ingestAnswer
				if err := errors.Join(err, json.Unmarshal(out, &a)); err != nil || a.Created != files {
					b.Fatal(err, string(out))
				}
			}
			b.ReportMetric(slow.Seconds()/fast.Seconds(), "times-faster")
			b.ReportMetric(processor.Seconds()*1000/float64(b.N), "client-cpu-ms/file")
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
