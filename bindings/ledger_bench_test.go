package bindings_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"transect/bindings"
	"transect/client"
	"transect/client/ledger"
	"transect/client/recovery"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib"
)

// BenchmarkLedger is what the ledger adds to a write of a script, in µs: when it is
// sent, sent once its intent is on the disk, and taken from the ledger. The floor is
// the same script without a ledger, on a platform that answers in no time. The
// quickest round of each counts.
func BenchmarkLedger(b *testing.B) {
	const writes = 2000
	for _, tasks := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d_tasks", tasks), func(b *testing.B) {
			floor, sent, synced, taken := newLap(), newLap(), newLap(), newLap()
			for b.Loop() {
				dir := b.TempDir()
				floor.time(writes, func() { benchWrites(b, "", false, tasks, writes) })
				sent.time(writes, func() { benchWrites(b, dir, false, tasks, writes) })
				taken.time(writes, func() { benchWrites(b, dir, false, tasks, writes) })
				synced.time(writes/10, func() { benchWrites(b, b.TempDir(), true, tasks, writes/10) })
			}
			b.ReportMetric(floor.took*1e6, "floor_µs")
			for name, l := range map[string]*lap{"sent": sent, "synced": synced, "taken": taken} {
				b.ReportMetric((l.took-floor.took)*1e6, name+"_µs")
				b.ReportMetric((l.worked-floor.worked)*1e6, name+"_cpu_µs")
				b.ReportMetric(l.took/floor.took, name+"_times")
			}
		})
	}
}

// benchWrites lets a script create n projects, noted in a folder unless that is "".
func benchWrites(b *testing.B, dir string, sync bool, tasks, n int) {
	options := client.Options{RoundTripper: new(atOnce)}
	if dir != "" {
		l, err := ledger.OpenRun(dir, "r", ledger.Start{})
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		options.Links = []client.Link{recovery.Link(recovery.Options{Ledger: func() (*ledger.Ledger, error) { return l, nil }, Key: func() ([]byte, error) { return []byte("key"), nil }, Sync: sync,
			Platform: time.Now})} // else it is the local platform, for which nothing waits for the disk
	}
	in := luastd.New(b.Context(), vm.Options{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Dir: ".", Progress: vm.ProgressQuiet, Env: environment(b.TempDir())})
	defer in.Close()
	module.Preload(in, stdlib.Modules()...)
	bindings.Open(in, func(ctx context.Context, _ *client.Settings) (*client.Client, error) {
		return client.New(ctx, client.Settings{URL: "http://platform.example", AccessToken: "t"}, options)
	})
	if _, err := in.RunString("bench", fmt.Sprintf(`
		local sdk, task = require("sdk"), require("task")
		local function write(i) sdk.projects.create{ name = "North quarry " .. i, company = "6b033c5f8716b6a0412e80a1", geometry = { type = "Point", coordinates = { 5.72, 45.19 } } } end
		if %d == 1 then for i = 1, %d do write(i) end return end
		local all = {} for i = 1, %d do all[i] = i end
		task.map(all, write, { workers = %d })`, tasks, n, n, tasks)); err != nil {
		b.Fatal(err)
	}
}

// atOnce is a platform that makes a project of each request.
type atOnce struct{ n atomic.Int64 }

// RoundTrip implements http.RoundTripper.
func (a *atOnce) RoundTrip(q *http.Request) (*http.Response, error) {
	body := fmt.Sprintf(`{"project":{"_id":"%024x","name":"North quarry","created":"2026-05-01T08:15:00.000Z","company":"6b033c5f8716b6a0412e80a1"}}`, a.n.Add(1))
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: q}, nil
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
