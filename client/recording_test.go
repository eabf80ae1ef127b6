package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"transect/client/declare"
	"transect/client/fault"
)

// sent is one request as the platform received it.
type sent struct {
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   string // JSON; "" when there was none
}

func (s sent) String() string {
	line := s.Method + " " + s.Path
	if len(s.Query) > 0 {
		line += "?" + s.Query.Encode()
	}
	return strings.TrimSpace(line + " " + s.Body)
}

// recorded are the requests a recording platform got, those for tokens aside.
type recorded struct {
	mu       sync.Mutex
	requests []sent
	answers  map[string]string
	served   map[string]int // answers given so far, by route
	address  string
}

// all lists the requests in the order they came.
func (r *recorded) all() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]sent(nil), r.requests...)
}

// last is the latest request. The test fails when there was none.
func (r *recorded) last(t *testing.T) sent {
	t.Helper()
	requests := r.all()
	if len(requests) == 0 {
		t.Fatal("no request was sent")
	}
	return requests[len(requests)-1]
}

// anyAnswer suits operations that give one record, a page, or nothing.
const anyAnswer = `{"_id":"made","results":[],"total":0}`

// record starts a platform that issues tokens, keeps every other request and
// answers it from answers, by path or by "METHOD path"; the key "" answers all
// other routes, which get anyAnswer otherwise. An answer of several lines
// gives one line to each request and the last line to all further ones. A line
// that starts with a status, as in `404 {"code":"NotFound"}`, fails with it.
func record(t *testing.T, answers map[string]string) (*Client, *recorded) {
	t.Helper()
	r := &recorded{answers: answers, served: map[string]int{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.address = server.URL
	retries := 0
	c, err := New(t.Context(), Settings{URL: server.URL, User: "ann", Password: "secret", Connection: &Connection{MaxRetries: &retries}},
		Options{Version: "test", Env: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// ServeHTTP implements http.Handler.
func (r *recorded) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if req.URL.Path == "/dxauth/oauth/token" {
		fmt.Fprint(w, `{"access_token":"recording-token","token_type":"bearer","expires_in":3600}`)
		return
	}
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.requests = append(r.requests, sent{req.Method, req.URL.EscapedPath(), req.URL.Query(), req.Header.Clone(), string(body)})
	answer := r.answer(req.Method, req.URL.Path)
	r.mu.Unlock()
	var status int
	if n, _ := fmt.Sscanf(answer, "%3d ", &status); n == 1 && len(answer) > 4 && answer[3] == ' ' {
		w.WriteHeader(status)
		answer = answer[4:]
	}
	fmt.Fprint(w, answer)
}

func (r *recorded) answer(method, path string) string {
	for _, key := range []string{method + " " + path, path, ""} {
		if text, ok := r.answers[key]; ok {
			lines := strings.Split(strings.TrimSpace(text), "\n")
			n := min(r.served[key], len(lines)-1)
			r.served[key]++
			return strings.TrimSpace(lines[n])
		}
	}
	return anyAnswer
}

// invoke calls an operation by name with named arguments, as scripts do;
// "extra" holds the undocumented ones.
func invoke(t *testing.T, c *Client, operation string, args map[string]any) (declare.Value, error) {
	t.Helper()
	manager, name, _ := strings.Cut(operation, ".")
	m := c.Manager(manager)
	if m == nil || m.Op(name) == nil {
		t.Fatalf("no operation %s", operation)
	}
	a := declare.Args{Values: map[string]any{}}
	for k, v := range args {
		if extra, ok := v.(map[string]any); ok && k == "extra" {
			a.Extra = extra
			continue
		}
		a.Values[k] = v
	}
	return m.Op(name).Invoke(t.Context(), a)
}

// wireCase is one call and what has to be on the wire: one line a request,
// "METHOD path?query JSON", keys of the JSON in any order.
type wireCase struct {
	call   string
	args   map[string]any
	answer string // to every request; anyAnswer when empty
	want   []string
	sorted bool // the requests go out side by side
}

// testWire makes the calls, each on a platform of its own.
func testWire(t *testing.T, cases []wireCase) {
	t.Helper()
	for i, test := range cases {
		t.Run(fmt.Sprintf("%s_%d", test.call, i), func(t *testing.T) {
			answers := map[string]string{}
			if test.answer != "" {
				answers[""] = test.answer
			}
			c, r := record(t, answers)
			if _, err := invoke(t, c, test.call, test.args); err != nil {
				t.Fatal(err)
			}
			got := r.all()
			if test.sorted {
				slices.SortFunc(got, func(a, b sent) int { return strings.Compare(a.String(), b.String()) })
			}
			if len(got) != len(test.want) {
				t.Fatalf("%d requests, want %d: %v", len(got), len(test.want), got)
			}
			for i, want := range test.want {
				if !sameRequest(t, got[i].String(), want) {
					t.Errorf("request %d:\n got %s\nwant %s", i+1, got[i], want)
				}
			}
		})
	}
}

func sameRequest(t *testing.T, got, want string) bool {
	t.Helper()
	gotLine, gotBody, _ := strings.Cut(got, " {")
	wantLine, wantBody, _ := strings.Cut(want, " {")
	if gotLine != wantLine || (gotBody == "") != (wantBody == "") {
		return false
	}
	if wantBody == "" {
		return true
	}
	var a, b any
	if err := json.Unmarshal([]byte("{"+wantBody), &b); err != nil {
		t.Fatalf("the expected body is no JSON: %v: {%s", err, wantBody)
	}
	return json.Unmarshal([]byte("{"+gotBody), &a) == nil && reflect.DeepEqual(a, b)
}

// refusedCase is a call that has to fail before anything is sent.
type refusedCase struct {
	call string
	args map[string]any
	name string // of the error, such as ParameterError
	text string // part of its message
}

func testRefused(t *testing.T, cases []refusedCase) {
	t.Helper()
	for i, test := range cases {
		t.Run(fmt.Sprintf("%s_%d", test.call, i), func(t *testing.T) {
			c, r := record(t, nil)
			_, err := invoke(t, c, test.call, test.args)
			if err == nil {
				t.Fatalf("%v was accepted: %v", test.args, r.all())
			}
			if f := fault.Find(err); f == nil || f.Name() != test.name {
				t.Errorf("the error is %T (%v), want %s", f, err, test.name)
			}
			if !strings.Contains(err.Error(), test.text) {
				t.Errorf("the message %q does not say %q", err, test.text)
			}
			if requests := r.all(); len(requests) > 0 {
				t.Errorf("requests were sent: %v", requests)
			}
		})
	}
}

func TestRecording(t *testing.T) {
	testWire(t, []wireCase{
		{call: "projects.describe", args: map[string]any{"project": "p1"},
			want: []string{`POST /project-manager/describe-project {"project":"p1"}`}},
		{call: "projects.delete", args: map[string]any{"project": "a b"},
			want: []string{`DELETE /project-manager/projects/a%20b`}},
	})
	testRefused(t, []refusedCase{
		{call: "projects.delete", name: "ParameterError", text: "project is missing"},
	})
	c, r := record(t, map[string]string{"POST /dxauth/describe-company": "{\"_id\":\"c1\"}\n404 {\"code\":\"NotFound\"}"})
	company := map[string]any{"company": "c1"}
	if one, err := invoke(t, c, "companies.describe", company); err != nil || string(one.JSON) != `{"_id":"c1"}` {
		t.Errorf("first answer %s, %v", one.JSON, err)
	}
	if _, err := invoke(t, c, "companies.describe", company); err == nil {
		t.Error("the second answer is not an error")
	}
	if got := r.last(t).Header.Get("Authorization"); got != "Bearer recording-token" || len(r.all()) != 2 {
		t.Errorf("authorization %q, %d requests", got, len(r.all()))
	}
}
