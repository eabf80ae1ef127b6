package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// loggingPlatform runs products: each answer about the logs of one shows one
// further batch of lines, and after the last batch the product has ended.
type loggingPlatform struct {
	mu      sync.Mutex
	end     string                         // status after the last batch
	batches map[string][][]json.RawMessage // by product
	asked   map[string]int                 // answers about logs so far, by product
	late    int                            // batches that only come after the end
	all     []sent
}

// RoundTrip implements http.RoundTripper, without a network: time in the test
// can then be made to pass.
func (p *loggingPlatform) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var asked struct{ Product string }
	answer := map[string]any{"access_token": "t", "token_type": "Bearer", "expires_in": 1 << 30}
	if !strings.HasSuffix(r.URL.Path, "/token") {
		p.all = append(p.all, sent{Method: r.Method, Path: r.URL.Path, Body: string(body)})
		if err := json.Unmarshal(body, &asked); err != nil {
			return nil, err
		}
		batches := p.batches[asked.Product]
		shown := min(p.asked[asked.Product], len(batches))
		if strings.HasSuffix(r.URL.Path, "describe-product") {
			answer = map[string]any{"_id": asked.Product, "status": "running"}
			if shown >= len(batches)-p.late {
				answer["status"] = p.end
			}
		} else {
			p.asked[asked.Product]++
			lines := slices.Concat(batches[:min(shown+1, len(batches))]...)
			answer = map[string]any{"total": map[string]any{"value": len(lines)}, "logs": lines}
		}
	}
	text, err := json.Marshal(answer)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)), Request: r}, err
}

// follow goes through the logs of products to the end, and tells how long that
// took. It runs in a bubble of its own, where waiting takes no time.
func follow(t *testing.T, p *loggingPlatform, products ...string) (lines []LogLine, took time.Duration) {
	p.asked = map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		c, err := New(t.Context(), Settings{URL: "http://platform.example", AccessToken: "t"}, Options{RoundTripper: p})
		if err != nil {
			t.Fatal(err)
		}
		cursor, err := c.Products.FollowLogs(t.Context(), FollowLogs{Product: products})
		if err != nil {
			t.Fatal(err)
		}
		defer cursor.Close()
		for {
			line, ok, err := cursor.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				took = time.Since(started)
				return
			}
			lines = append(lines, line)
		}
	})
	return lines, took
}

func logLine(second int, message string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"timestamp":"2026-05-31T08:00:%02d.000Z","message":%q}`, second, message))
}

func said(lines []LogLine) []string {
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = fmt.Sprint(l.Product, " ", l.Timestamp, " ", l.Record["message"])
	}
	return all
}

// Lines that are equal, that share a time, or that come late, even after the
// product has ended, come out once each.
func TestFollowingLosesAndRepeatsNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.Custom(func(rt *rapid.T) json.RawMessage {
			return logLine(rapid.IntRange(0, 9).Draw(rt, "second"), rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "message"))
		})
		log := rapid.SliceOfN(rapid.SliceOfN(line, 0, 4), 1, 8)
		p := &loggingPlatform{end: "available", batches: map[string][][]json.RawMessage{"r1": log.Draw(rt, "r1")}}
		products := []string{"r1"}
		if rapid.Bool().Draw(rt, "two") {
			products, p.batches["r2"] = append(products, "r2"), log.Draw(rt, "r2")
		}
		p.late = rapid.IntRange(0, 2).Draw(rt, "late")
		lines, _ := follow(t, p, products...)
		var want []string
		for product, batches := range p.batches {
			for _, raw := range slices.Concat(batches...) {
				var l struct{ Timestamp, Message string }
				if err := json.Unmarshal(raw, &l); err != nil {
					rt.Fatal(err)
				}
				want = append(want, product+" "+l.Timestamp+" "+l.Message)
			}
		}
		got := said(lines)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Fatalf("got  %q\nwant %q", got, want)
		}
	})
}

// What is there at once comes in order of time.
func TestFollowingIsInOrder(t *testing.T) {
	p := &loggingPlatform{end: "available", batches: map[string][][]json.RawMessage{
		"r1": {{logLine(3, "c"), logLine(1, "a")}, {logLine(5, "e")}},
		"r2": {{logLine(4, "d"), logLine(2, "b")}},
	}}
	lines, _ := follow(t, p, "r1", "r2")
	var order strings.Builder
	for _, l := range lines {
		order.WriteString(l.Record["message"].(string))
	}
	if order.String() != "abcde" {
		t.Errorf("the lines come as %s", order.String())
	}
}

func TestFollowingEndsWithTheProduct(t *testing.T) {
	for _, end := range []string{"available", "failed", "rejected", "cancelled", "canceled"} {
		p := &loggingPlatform{end: end, batches: map[string][][]json.RawMessage{"r1": {{logLine(1, "a")}}}}
		lines, took := follow(t, p, "r1")
		if len(lines) != 1 || took < 10*time.Second || took > 15*time.Second {
			t.Errorf("%s: %d lines in %s", end, len(lines), took)
		}
		if first := p.all[0].String() + p.all[1].String(); !strings.Contains(first, `describe-product {"product":"r1"}`) || !strings.Contains(first, `retrieve-product-logs {"product":"r1"}`) {
			t.Errorf("%s: the first requests are %v", end, p.all[:2])
		}
	}
}

// A product that says nothing is asked less and less often, but at least every
// two seconds; following stops when the caller does.
func TestFollowingAProductThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &loggingPlatform{end: "running", asked: map[string]int{}}
		c, err := New(t.Context(), Settings{URL: "http://platform.example", AccessToken: "t"}, Options{RoundTripper: p})
		if err != nil {
			t.Fatal(err)
		}
		cursor, err := c.Products.FollowLogs(t.Context(), FollowLogs{Product: IDs{"r1"}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, ok, err := cursor.Next(ctx); ok || err == nil {
			t.Errorf("following went on: %t, %v", ok, err)
		}
		if n := len(p.all) / 2; n < 30 || n > 40 {
			t.Errorf("%d rounds in a minute", n)
		}
	})
}
