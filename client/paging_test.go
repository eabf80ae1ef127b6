package client

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"transect/client/declare"
	"transect/client/schema"
)

// drain goes through a generator to its end and gives the ids.
func drain(t *testing.T, c *Client, operation string, args object) []string {
	t.Helper()
	v, err := invoke(t, c, operation, args)
	if err != nil {
		t.Fatal(err)
	}
	cursor := declare.Cursor[Dataset]{Stream: v.Stream}
	defer cursor.Close()
	var ids []string
	for {
		record, ok, err := cursor.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return ids
		}
		ids = append(ids, record.ID)
	}
}

// twoPages is answered page by page, without a total.
const twoPages = `{"results":[{"_id":"c"},{"_id":"b"}]}` + "\n" + `{"results":[{"_id":"a"}]}` + "\n" + `{"results":[]}`

func TestGeneratorsOnTheWire(t *testing.T) {
	const byID = `,"sort":{"_id":1}`
	for _, g := range []struct {
		manager, route string
		first, limit   int
		more           string
	}{
		{"projects", projectPath + "search-projects", 1, 100, byID},
		{"missions", projectPath + "search-missions", 1, 100, byID},
		{"flights", projectPath + "search-flights", 1, 100, byID},
		{"datasets", dataPath + "search-datasets", 0, 50, byID + `,"count":false`},
		{"analytics", analyticsPath + "search-analytics", 0, 50, byID},
		{"products", analyticsPath + "search-products", 0, 50, byID},
		{"companies", accounts + "search-companies", 1, 50, byID},
		{"users", accounts + "search-users", 1, 50, byID},
		{"share_tokens", accounts + "search-share-tokens", 1, 50, ""},
	} {
		numbered := func(filter string, page, limit int, more string) string {
			return fmt.Sprintf(`%s {"filter":%s,"limit":%d,"page":%d%s}`, g.route, filter, limit, page, more)
		}
		t.Run(g.manager, func(t *testing.T) {
			c, r := record(t, map[string]string{"": twoPages})
			if got := drain(t, c, g.manager+".search_generator", nil); !slices.Equal(got, []string{"c", "b", "a"}) {
				t.Errorf("records %v", got)
			}
			expect(t, r, numbered("{}", g.first, g.limit, g.more), numbered("{}", g.first+1, g.limit, g.more), numbered("{}", g.first+2, g.limit, g.more))

			c, r = record(t, map[string]string{"": `{"results":[]}`})
			drain(t, c, g.manager+".search_generator", object{"filter": object{"a": object{"$exists": true}}, "limit": 7, "page": 4})
			expect(t, r, numbered(`{"a":{"$exists":true}}`, 4, 7, g.more))
		})
		if g.manager == "share_tokens" {
			continue // they cannot be sorted
		}
		count := strings.TrimPrefix(g.more, byID)
		keyed := func(filter string) string {
			return fmt.Sprintf(`%s {"filter":%s,"limit":%d,"sort":{"_id":-1}%s}`, g.route, filter, g.limit, count)
		}
		t.Run(g.manager+" by identifier", func(t *testing.T) {
			c, r := record(t, map[string]string{"": twoPages})
			filter := object{"a": object{"$eq": 1}}
			if got := drain(t, c, g.manager+".search_generator", object{"keyset_pagination": true, "filter": filter}); !slices.Equal(got, []string{"c", "b", "a"}) {
				t.Errorf("records %v", got)
			}
			expect(t, r, keyed(`{"a":{"$eq":1}}`), keyed(`{"a":{"$eq":1},"_id":{"$lt":"b"}}`), keyed(`{"a":{"$eq":1},"_id":{"$lt":"a"}}`))
			if len(filter) != 1 {
				t.Errorf("the caller's filter was changed: %v", filter)
			}

			c, r = record(t, map[string]string{"": twoPages})
			drain(t, c, g.manager+".search_generator", object{"keyset_pagination": true, "fields": object{"include": list{"name"}}})
			for i, request := range r.all() {
				if !strings.Contains(request.Body, `"fields":{"include":["name"]}`) {
					t.Errorf("request %d has no fields: %s", i+1, request)
				}
			}
		})
	}
}

// A place or an order of the caller's own goes before following identifiers.
func TestKeysetConflicts(t *testing.T) {
	for _, test := range []struct {
		operation string
		args      object
		body      string // of the first request, in part
		warning   string
	}{
		{"datasets.search_generator", object{"page": 3}, `"page":3`, "a page is given"},
		{"datasets.search_generator", object{"sort": object{"name": 1}}, `"sort":{"name":1}`, "a sort is given"},
		{"datasets.search_generator", object{"filter": object{"_id": object{"$gt": "a"}}}, `"page":0`, "the filter has _id"},
		{"share_tokens.search_generator", object{}, `"page":1`, "cannot be sorted"},
		{"datasets.search_generator", object{"filter": object{"name": object{"$eq": "_id"}}}, `"sort":{"_id":-1}`, ""},
	} {
		var log bytes.Buffer
		c, r := record(t, map[string]string{"": `{"results":[]}`})
		c.engine.Log = slog.New(slog.NewTextHandler(&log, nil))
		args := maps.Clone(test.args)
		args["keyset_pagination"] = true
		drain(t, c, test.operation, args)
		if body := r.last(t).Body; !strings.Contains(body, test.body) || strings.Contains(body, "keyset") {
			t.Errorf("%v: sent %s, want %s", test.args, body, test.body)
		}
		if warned := strings.Contains(log.String(), "keyset_pagination is ignored"); warned != (test.warning != "") || !strings.Contains(log.String(), test.warning) {
			t.Errorf("%v: the log is %q, want %q", test.args, log.String(), test.warning)
		}
	}
}

// The total tells that all has been seen, which spares the empty page. At the end the last one is requested again if something
// was written meanwhile.
func TestGeneratorsEndAtTheTotal(t *testing.T) {
	c, r := record(t, map[string]string{"": `{"results":[{"_id":"a"},{"_id":"b"}],"total":3}` + "\n" + `{"results":[{"_id":"c"}],"total":3}`})
	if got := drain(t, c, "datasets.search_generator", nil); len(got) != 3 || len(r.all()) != 2 {
		t.Errorf("%d records in %d requests", len(got), len(r.all()))
	}
	const search, pages = dataPath + "search-datasets", `{"results":[{"_id":"b"},{"_id":"a"}],"total":2}` + "\n" + `{"results":[],"total":2}`
	for _, test := range []struct {
		args  object
		again string
	}{
		{nil, search + ` {"filter":{},"limit":50,"page":0,"sort":{"_id":1},"count":false}`},
		{object{"keyset_pagination": true}, search + ` {"filter":{"_id":{"$gt":"b"}},"limit":50,"sort":{"_id":1},"count":false}`},
	} {
		c, r := record(t, map[string]string{search: pages})
		v, err := invoke(t, c, "datasets.search_generator", test.args)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Stream.Close()
		for n := range 3 {
			if _, ok, err := v.Stream.Next(t.Context()); err != nil || ok != (n < 2) {
				t.Fatal(n, ok, err)
			}
			if _, err := invoke(t, c, "projects.delete", object{"project": "p"}); err != nil {
				t.Fatal(err)
			}
		}
		got := r.all() // the search, two deletions, and the search before the third
		if len(got) != 5 || !sameRequest(t, got[3].String(), test.again) {
			t.Errorf("%v: requests %v", test.args, got)
		}
	}
}

func TestShorthandsOfSearches(t *testing.T) {
	for _, test := range []struct{ operation, argument, value, route string }{
		{"analytics.search", "name", "n", analyticsPath + "search-analytics"},
		{"products.search", "project", "p1", analyticsPath + "search-products"},
	} {
		c, r := record(t, nil)
		filter := object{"a": object{"$eq": 1}}
		if _, err := invoke(t, c, test.operation, object{test.argument: test.value, "filter": filter}); err != nil {
			t.Fatal(err)
		}
		expect(t, r, fmt.Sprintf(`%s {"filter":{"a":{"$eq":1},%q:{"$eq":%q}}}`, test.route, test.argument, test.value))
		if len(filter) != 1 {
			t.Errorf("%s: the caller's filter was changed: %v", test.operation, filter)
		}
		testRefused(t, []refusedCase{{test.operation, object{test.argument: test.value, "filter": object{test.argument: object{"$eq": "x"}}}, "ParameterError", "cannot be combined"}})
	}
}

// return_total chooses what comes back and never travels.
func TestReturnTotalIsNotSent(t *testing.T) {
	for _, manager := range []string{"projects", "missions", "flights", "datasets", "analytics", "products", "companies", "users", "share_tokens"} {
		c, r := record(t, map[string]string{"": `{"results":[{"_id":"a"}],"total":7}`})
		v, err := invoke(t, c, manager+".search", object{"return_total": true})
		if err != nil || v.Total != 7 || len(v.Items) != 1 || strings.Contains(r.last(t).Body, "return_total") {
			t.Errorf("%s: total %d, %d records, %v, sent %s", manager, v.Total, len(v.Items), err, r.last(t))
		}
	}
}

// largePages answers dataset searches over 1,000 records and refuses pages of
// more than 60.
type largePages struct {
	status int
	limits []int64
}

func (s *largePages) RoundTrip(r *http.Request) (*http.Response, error) {
	status, text := http.StatusOK, `{"access_token":"t","token_type":"bearer","expires_in":36000}`
	if strings.Contains(r.URL.Path, "search-datasets") {
		body, _ := io.ReadAll(r.Body)
		limit, page := gjson.GetBytes(body, "limit").Int(), gjson.GetBytes(body, "page").Int()
		s.limits = append(s.limits, limit)
		var b strings.Builder
		for i := page * limit; i < min(page*limit+limit, 1000); i++ {
			fmt.Fprintf(&b, `,{"_id":"%04d"}`, i)
		}
		text = `{"results":[` + strings.TrimPrefix(b.String(), ",") + `],"total":1000}`
		if limit > 60 {
			status, text = s.status, `{"message":"too much"}`
		}
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

func TestTooLargePagesShrink(t *testing.T) {
	for status, refusals := range map[int]int{http.StatusRequestEntityTooLarge: 1, http.StatusInternalServerError: 2, http.StatusGatewayTimeout: 2} {
		var log bytes.Buffer
		server, called := &largePages{status: status}, 0
		count := func(ctx context.Context, call *declare.Call, next declare.Handler) (declare.Value, error) {
			if !call.SendsNothing() {
				called++
			}
			return next(ctx, call)
		}
		c, err := New(t.Context(), Settings{URL: "http://large.invalid", User: "ann", Password: "secret"}, Options{RoundTripper: server,
			Logger: slog.New(slog.NewTextHandler(&log, nil)), Links: []Link{At(PlaceObserve, count)},
			Sleep: func(context.Context, time.Duration) error { return nil }})
		if err != nil {
			t.Fatal(err)
		}
		ids := drain(t, c, "datasets.search_generator", object{"sort": schema.Null{}})
		if len(ids) != 1000 || !slices.IsSorted(ids) {
			t.Errorf("status %d: %d records", status, len(ids))
		}
		first := slices.IndexFunc(server.limits, func(n int64) bool { return n > 60 })
		if first < 0 || server.limits[first+refusals] > 60 || refusals == 2 && server.limits[first+1] <= 60 {
			t.Errorf("status %d: pages of %v", status, server.limits)
		}
		if !strings.Contains(log.String(), "a page of 100 records is too large for the platform: continuing with 50") {
			t.Errorf("status %d: the log is %q", status, log.String())
		}
		repeated := len(server.limits) - called
		if tries := strings.Count(log.String(), "too large"); repeated != tries*(refusals-1) {
			t.Errorf("status %d: %d requests in %d calls, %d refusals", status, len(server.limits), called, tries)
		}
	}
}
