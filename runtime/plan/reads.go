package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"transect/client/declare"
)

// mostFound is how many records an answer may hold that a plan rests on. A larger one is
// a survey: what is in it may change, and the records that are written are compared
// anyhow.
const mostFound = 100

type readingKey struct{}

// reading returns a context whose requests are those of a read.
func reading(ctx context.Context, call *declare.Call) context.Context {
	return context.WithValue(ctx, readingKey{}, call)
}

// Below lies between what answers the writes of the run and a platform: what reads of it
// find is noted.
func (r *Recorder) Below(platform string, next http.RoundTripper) http.RoundTripper {
	root := ""
	if u, err := url.Parse(platform); err == nil {
		root = strings.TrimSuffix(u.Path, "/")
	}
	return below{r, platform, root, next}
}

type below struct {
	recorder *Recorder
	platform string
	root     string // of its paths
	next     http.RoundTripper
}

func (b below) RoundTrip(req *http.Request) (*http.Response, error) {
	call, _ := req.Context().Value(readingKey{}).(*declare.Call)
	if call == nil || tellsSecret(call) || req.Method != http.MethodGet && req.Method != http.MethodPost {
		return b.next.RoundTrip(req)
	}
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	if call.Spec.Param("filter") != nil && !filters(body) {
		return b.next.RoundTrip(req) // it asks for everything
	}
	req = req.Clone(req.Context())
	req.Header.Del("Accept-Encoding")
	answer, err := b.next.RoundTrip(req)
	if err != nil || answer.StatusCode >= http.StatusInternalServerError {
		return answer, err
	}
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(text))
	if err == nil {
		b.recorder.read(Read{Operation: call.Spec.FullName(), Platform: b.platform, Method: req.Method,
			Path: strings.TrimPrefix(req.URL.Path, b.root), Query: req.URL.RawQuery, Body: body, Found: found(text),
			Position: declare.Position(req.Context())})
	}
	return answer, err
}

// tellsSecret reports whether a read has a secret among its arguments, which a plan does
// not keep.
func tellsSecret(call *declare.Call) bool {
	for _, p := range call.Spec.Params {
		if _, given := call.Args.Values[p.Name]; given && p.Secret {
			return true
		}
	}
	return false
}

// bodyOf reads the body of a request, and puts it back.
func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	text, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	req.Body = io.NopCloser(bytes.NewReader(text))
	if !json.Valid(text) {
		text = nil
	}
	return text, err
}

// filters reports whether a search asks for particular records.
func filters(body []byte) bool {
	for _, key := range []string{"filter", "search"} {
		if v := gjson.GetBytes(body, key); v.IsObject() && len(v.Map()) > 0 {
			return true
		}
	}
	return false
}

// read notes a read, once.
func (r *Recorder) read(one Read) {
	if len(one.Found) > mostFound {
		return
	}
	text, err := json.Marshal([]any{one.Platform, one.Method, one.Path, one.Query, one.Body})
	if err != nil {
		return
	}
	id := sha256.Sum256(text)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.reads[id] {
		r.reads[id] = true
		r.plan.Reads = append(r.plan.Reads, &one)
	}
}

// found are the ids of the records in an answer, sorted.
func found(answer []byte) []string {
	all := []string{}
	visit := func(record gjson.Result) bool {
		if id := record.Get("_id"); id.Exists() {
			all = append(all, id.String())
		}
		return true
	}
	root := gjson.ParseBytes(answer)
	switch list := root.Get("results"); {
	case list.IsArray():
		list.ForEach(func(_, record gjson.Result) bool { return visit(record) })
	case root.IsArray():
		root.ForEach(func(_, record gjson.Result) bool { return visit(record) })
	case root.Get("_id").Exists():
		visit(root)
	default: // groups of them
		var within func(_, v gjson.Result) bool
		within = func(_, v gjson.Result) bool {
			if v.IsObject() && v.Get("_id").Type == gjson.String {
				return visit(v)
			}
			if v.IsObject() || v.IsArray() {
				v.ForEach(within)
			}
			return true
		}
		within(root, root)
	}
	slices.Sort(all)
	return all
}
