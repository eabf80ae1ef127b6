package client

import (
	"regexp"
	"testing"
)

// Each case is one way a request is made; all have the headers of a platform
// request.
func TestHeadersOnTheWire(t *testing.T) {
	for _, test := range []struct {
		call        string
		args        object
		contentType string
	}{
		{"projects.describe", object{"project": "p1"}, "application/json"},
		{"projects.create", object{"name": "x", "company": "c1"}, "application/json"},
		{"projects.delete", object{"project": "p1"}, "application/json"},
		{"datasets.delete", object{"dataset": "d1"}, "application/json"},
		{"products.retrieve_logs", object{"product": "r1"}, "application/json"},
		{"datasets.download_component", object{"dataset": "d1", "component": "c", "target_path": t.TempDir(), "target_name": "file", "md5hash": anyAnswerMD5}, ""},
	} {
		c, r := record(t, map[string]string{
			"POST /project-manager/projects":                `{"project":{"_id":"p1"}}`,
			"POST /analytics-service/retrieve-product-logs": `{"total":{"value":0},"logs":[]}`,
		})
		if _, err := invoke(t, c, test.call, test.args); err != nil {
			t.Errorf("%s: %v", test.call, err)
			continue
		}
		got := r.last(t).Header
		for name, want := range map[string]string{
			"Authorization": "Bearer recording-token", "Cache-Control": "no-cache", "Content-Type": test.contentType, "Referer": c.BaseURL(),
		} {
			if got.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", test.call, name, got.Get(name), want)
			}
		}
		if agent := got.Get("User-Agent"); !regexp.MustCompile(`^transect/test Go/\S+ \(\w+; \w+\)$`).MatchString(agent) {
			t.Errorf("%s: User-Agent is %q", test.call, agent)
		}
		if test.contentType == "" && got.Get("Accept-Encoding") != "identity" {
			t.Errorf("%s: a file may come compressed: %q", test.call, got.Get("Accept-Encoding"))
		}
	}
}

// Services that use the client stand before it, the last one first.
func TestServicesInTheUserAgent(t *testing.T) {
	_, r := record(t, nil)
	c, err := New(t.Context(), Settings{URL: r.address + "/", User: "ann", Password: "secret", Service: []string{"mine/1", "yours/2"}}, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := invoke(t, c, "users.describe", nil); err != nil {
		t.Fatal(err)
	}
	got := r.last(t).Header
	if agent := got.Get("User-Agent"); !regexp.MustCompile(`^yours/2 mine/1 transect/test `).MatchString(agent) {
		t.Errorf("User-Agent is %q", agent)
	}
	if got.Get("Referer") != r.address {
		t.Errorf("Referer is %q, want the address without its slash", got.Get("Referer"))
	}
}
