package faulttest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// network puts a proxy of bytes before a world: it slows down, cuts and breaks
// connections without knowing what goes over them. When heals is above 0 the
// trouble ends with that many repeats.
func (w *world) network(toxics []string, heals int) (*toxiproxy.Proxy, error) {
	address, err := url.Parse(w.proxy.server.URL)
	if err != nil {
		return nil, err
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(server, "network", "127.0.0.1:0", address.Host)
	if err := p.Start(); err != nil {
		return nil, err
	}
	w.url, w.onClose = "http://"+p.Listen, p.Stop
	var added []string
	for _, toxic := range toxics {
		t, err := p.Toxics.AddToxicJson(strings.NewReader(toxic))
		if err != nil {
			return nil, err
		}
		added = append(added, t.Name)
	}
	if heals == 0 {
		return p, nil
	}
	var mu sync.Mutex
	w.repeated = func() {
		mu.Lock()
		defer mu.Unlock()
		if heals--; heals == 0 {
			for _, name := range added {
				p.Toxics.RemoveToxic(context.Background(), name)
			}
		}
	}
	return p, nil
}

// out takes the network away when request n comes, for two seconds: nobody
// answers, and connections are refused. Every other request had its effect.
func (w *world) out(n int) error {
	p, err := w.network(nil, 0)
	if err != nil {
		return err
	}
	w.patient = true
	var back sync.WaitGroup
	w.healed = back.Wait
	w.onClose = func() { back.Wait(); p.Stop() }
	w.proxy.plan = func(i int, _ *http.Request) fault {
		if i != n {
			return nil
		}
		return func(inner *proxy, out http.ResponseWriter, r *http.Request) {
			if n%2 == 1 {
				inner.answered(r)
			} else {
				io.Copy(io.Discard, r.Body)
			}
			back.Go(func() {
				p.Stop()
				time.Sleep(2 * time.Second)
				if err := p.Start(); err != nil {
					panic(err)
				}
			})
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}
	}
	return nil
}

// trouble is a bad network.
type trouble struct {
	name   string
	toxics []string
	heals  int  // with so many repeats; 0: never
	short  bool // part of short runs
	all    bool // takes long: only when all cases are wanted
	out    int  // the request at which nothing works for a while
}

func toxic(kind, attributes string) string {
	return fmt.Sprintf(`{"type":"%s","attributes":{%s}}`, kind, attributes)
}

// slowly is 64 KB/s each way, for each connection.
var slowly = []string{`{"type":"bandwidth","name":"up","stream":"upstream","attributes":{"rate":64}}`,
	`{"type":"bandwidth","name":"down","stream":"downstream","attributes":{"rate":64}}`}

// troubles are what networks do.
func troubles() []trouble {
	list := []trouble{
		{name: "latency", toxics: []string{toxic("latency", `"latency":15`)}},
		{name: "long latency", toxics: []string{toxic("latency", `"latency":300`)}, all: true},
		{name: "jitter", toxics: []string{toxic("latency", `"latency":5,"jitter":40`)}},
		{name: "slices", toxics: []string{toxic("slicer", `"average_size":30000,"size_variation":20000,"delay":10`)}},
		{name: "slow close", toxics: []string{toxic("slow_close", `"delay":200`)}, short: true},
		{name: "reset", toxics: []string{toxic("reset_peer", `"timeout":0`)}, heals: 2, short: true},
		{name: "reset after a while", toxics: []string{toxic("reset_peer", `"timeout":30`)}, heals: 3},
		{name: "silence", toxics: []string{toxic("timeout", `"timeout":0`)}, heals: 1},
		{name: "silence and an end", toxics: []string{toxic("timeout", `"timeout":300`)}, heals: 2},
		{name: "64 KB/s in parts", toxics: slowly, all: true},
	}
	for _, n := range []int{1, 300, 5000, 100_000, 3 << 20, 5<<20 + 3000} {
		list = append(list, trouble{name: fmt.Sprint("cut after sending ", n), heals: 2, short: n == 3<<20,
			toxics: []string{fmt.Sprintf(`{"type":"limit_data","stream":"upstream","attributes":{"bytes":%d}}`, n)}})
	}
	for _, n := range []int{1, 150, 700, 3000, 2 << 20} {
		list = append(list, trouble{name: fmt.Sprint("cut after receiving ", n), heals: 2, short: n == 700,
			toxics: []string{toxic("limit_data", fmt.Sprint(`"bytes":`, n))}})
	}
	for n := 1; n < 60; n++ {
		list = append(list, trouble{name: fmt.Sprint("out for 2 s:", n), out: n, all: n != 22})
	}
	return list
}

// over runs a workflow over bad networks.
func (s *suite) over(list []trouble) {
	if s.want = s.play("no trouble", s.input(nil)); s.want.stopped != nil {
		s.t.Fatal(s.want.stopped)
	}
	var group sync.WaitGroup
	free := make(chan struct{}, abreast)
	for _, trouble := range list {
		if testing.Short() && !trouble.short || trouble.all && !everything() || s.record.done(trouble.name) {
			continue
		}
		group.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			s.compare(trouble.name, s.play(trouble.name, s.input(func(w *world) error {
				if trouble.out > 0 {
					return w.out(trouble.out)
				}
				if trouble.name == "silence" {
					w.timeout, w.stall = silence, silence
				}
				_, err := w.network(trouble.toxics, trouble.heals)
				return err
			})))
		})
	}
	group.Wait()
	s.t.Logf("%s", s.record)
}

// input prepares a world with the suite's own files.
func (s *suite) input(spoil func(*world) error) func(*world) error {
	return func(w *world) error {
		w.light = s.light
		if spoil == nil {
			return nil
		}
		return spoil(w)
	}
}

// TestNetworks runs the survey over bad connections.
func TestNetworks(t *testing.T) {
	t.Parallel()
	s := &suite{t: t, seed: seedSurvey, run: survey, record: newRecord(t)}
	s.over(troubles())
}

// TestNetworksIngest runs the ingest over them. Nothing that ends makes it stop.
func TestNetworksIngest(t *testing.T) {
	if !everything() {
		t.Skip("takes minutes: TRANSECT_FAULTS=all runs it")
	}
	s := &suite{t: t, seed: seedMission, run: takeIn, record: newRecord(t)}
	s.over(troubles())
}

// TestSlowest moves a whole survey at 64 KB/s.
func TestSlowest(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it moves 300 KB twice at 64 KB/s")
	}
	t.Parallel()
	s := &suite{t: t, seed: seedSurvey, run: survey, record: newRecord(t), light: true}
	began := time.Now()
	s.over([]trouble{{name: "64 KB/s", toxics: slowly}})
	if took := time.Since(began); took < 6*time.Second {
		t.Errorf("it took %v: the network was not slow", took)
	}
	if s.record.stops() > 0 {
		t.Error("a slow network is no reason to stop")
	}
}
