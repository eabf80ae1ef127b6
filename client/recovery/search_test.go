package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/ledger"
	"transect/client/recovery"
)

// Writes that say different things are looked for side by side.
func TestLooksSideBySide(t *testing.T) {
	dir := t.TempDir()
	names := []any{"north", "south", "east"}
	together := sync.WaitGroup{}
	together.Add(len(names))
	searched := func(q *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(q.Body)
		if err != nil || !strings.Contains(q.URL.Path, "search") {
			return response(q, http.StatusOK, `{"_id":"6b033c5f8716b6a0412e80a0"}`), err
		}
		together.Done()
		met := make(chan bool)
		go func() { together.Wait(); close(met) }()
		select {
		case <-met:
		case <-time.After(20 * time.Second):
			return nil, errors.New("nobody else looks")
		}
		for i, name := range names {
			if strings.Contains(string(body), fmt.Sprintf("%q", name)) {
				id := fmt.Sprintf("%08x8716b6a0412e80a%d", time.Now().Unix(), i)
				return response(q, http.StatusOK, fmt.Sprintf(`{"total":1,"results":[{"_id":%q,"name":%q,"project":"6b033c5f8716b6a0412e80a1"}]}`, id, name)), nil
			}
		}
		return response(q, http.StatusOK, `{"total":0,"results":[]}`), nil
	}
	lost := func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for start, network := range []roundTrip{lost, searched} {
		l, err := ledger.OpenRun(dir, "r", ledger.Start{})
		if err != nil {
			t.Fatal(err)
		}
		stats := &recovery.WriteStats{}
		c, err := client.New(t.Context(), client.Settings{URL: "http://platform.example", AccessToken: "t"}, client.Options{
			RoundTripper: network, Sleep: func(context.Context, time.Duration) error { return nil }, MaxOutage: new(time.Duration),
			Links: []client.Link{recovery.Link(recovery.Options{Ledger: func() (*ledger.Ledger, error) { return l, nil },
				Key: func() ([]byte, error) { return []byte("key"), nil }, Stats: stats})}})
		if err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		for _, name := range names {
			calls.Go(func() {
				_, err := c.Manager("missions").Op("create_mission").Invoke(context.Background(),
					declare.Args{Values: map[string]any{"project": "6b033c5f8716b6a0412e80a1", "name": name, "survey_date": "2026-05-01"}})
				if (err == nil) != (start == 1) {
					t.Errorf("start %d: %v", start, err)
				}
			})
		}
		calls.Wait()
		if n := stats.Adopted.Load(); start == 1 && n != int64(len(names)) {
			t.Errorf("%d were found", n)
		}
		l.Close()
	}
}

type roundTrip func(q *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }
