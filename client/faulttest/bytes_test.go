package faulttest

import (
	"context"
	"fmt"
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
func (w *world) network(toxic string, heals int) error {
	address, err := url.Parse(w.proxy.server.URL)
	if err != nil {
		return err
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	p := toxiproxy.NewProxy(server, "network", "127.0.0.1:0", address.Host)
	if err := p.Start(); err != nil {
		return err
	}
	added, err := p.Toxics.AddToxicJson(strings.NewReader(toxic))
	if err != nil {
		p.Stop()
		return err
	}
	w.url, w.onClose = "http://"+p.Listen, p.Stop
	if heals == 0 {
		return nil
	}
	var mu sync.Mutex
	w.repeated = func() {
		mu.Lock()
		defer mu.Unlock()
		if heals--; heals == 0 {
			p.Toxics.RemoveToxic(context.Background(), added.Name)
		}
	}
	return nil
}

// TestNetworks runs the survey over bad connections.
func TestNetworks(t *testing.T) {
	type trouble struct {
		name, toxic string
		heals       int // with so many repeats; 0: never
		short       bool
	}
	list := []trouble{
		{name: "latency and jitter", toxic: `{"type":"latency","attributes":{"latency":15,"jitter":10}}`},
		{name: "slices", toxic: `{"type":"slicer","attributes":{"average_size":30000,"size_variation":20000,"delay":10}}`},
		{name: "slow close", toxic: `{"type":"slow_close","attributes":{"delay":200}}`, short: true},
		{name: "reset", toxic: `{"type":"reset_peer","attributes":{"timeout":0}}`, heals: 2, short: true},
		{name: "reset after a while", toxic: `{"type":"reset_peer","attributes":{"timeout":30}}`, heals: 3},
		{name: "silence", toxic: `{"type":"timeout","attributes":{"timeout":0}}`, heals: 1},
	}
	for _, n := range []int{1, 300, 5000, 100_000, 3 << 20, 5<<20 + 3000} {
		list = append(list, trouble{name: fmt.Sprint("cut after sending ", n), heals: 2, short: n == 3<<20,
			toxic: fmt.Sprintf(`{"type":"limit_data","stream":"upstream","attributes":{"bytes":%d}}`, n)})
	}
	for _, n := range []int{1, 150, 700, 3000, 2 << 20} {
		list = append(list, trouble{name: fmt.Sprint("cut after receiving ", n), heals: 2, short: n == 700,
			toxic: fmt.Sprintf(`{"type":"limit_data","attributes":{"bytes":%d}}`, n)})
	}
	s := &suite{t: t, seed: seedSurvey, run: survey, record: newRecord(t)}
	s.want = s.play("no trouble", nil)
	if s.want.stopped != nil {
		t.Fatal(s.want.stopped)
	}
	var group sync.WaitGroup
	free := make(chan struct{}, abreast)
	for _, trouble := range list {
		if testing.Short() && !trouble.short {
			continue
		}
		group.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			s.compare(trouble.name, s.play(trouble.name, func(w *world) error {
				if trouble.name == "silence" {
					w.timeout = 2 * time.Second
				}
				return w.network(trouble.toxic, trouble.heals)
			}))
		})
	}
	group.Wait()
	t.Logf("%s", s.record)
}
