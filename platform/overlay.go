package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
	"transect/platform/internal/blob"
	"transect/platform/internal/store"
)

// Overlay is a layer over a platform: reads go through to it, writes are carried out in memory, and later
// reads see them. Documents that a write touches are copied from the platform below first (overlay_below.go);
// searches are merged (overlay_search.go). Nothing is prepared before the first write.
type Overlay struct {
	below  http.RoundTripper
	base   *url.URL
	root   string // of the paths below base
	mux    *http.ServeMux
	routes map[string]*route // by pattern

	under  *beneath
	active atomic.Bool
	open   func() (*Platform, error)
}

// NewOverlay returns an overlay over the platform at an address. Its requests to the platform below need a
// client's transport, which logs in, repeats and limits: see transport.Options.Over.
func NewOverlay(below http.RoundTripper, base string) (*Overlay, error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	o := &Overlay{below: below, base: at, root: strings.TrimSuffix(at.Path, "/"), mux: http.NewServeMux(),
		routes: map[string]*route{}}
	o.under = &beneath{tripper: below, base: strings.TrimSuffix(base, "/"), held: map[string]map[string]bool{},
		copied: map[string]bool{}, numbers: map[string]int{}, totals: map[string]int{}}
	routes := allRoutes()
	o.under.reads = accesses(routes)
	for _, rt := range routes {
		if rt.op != nil && rt.op.FullName() == "users.describe" {
			o.under.describeUser = rt.op
		}
		pattern := rt.method + " /" + rt.path
		o.routes[pattern] = &rt
		o.mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
	}
	o.open = sync.OnceValues(func() (*Platform, error) {
		p, err := Open(context.Background(), Options{Memory: true, under: o.under})
		if err == nil {
			p.secrets.UserID, p.secrets.Company = o.under.user, o.under.company()
			o.active.Store(true)
		}
		return p, err
	})
	return o, nil
}

// Close releases the overlay's resources.
func (o *Overlay) Close() error {
	if !o.active.Load() {
		return nil
	}
	p, err := o.open()
	if err != nil {
		return nil
	}
	return p.Close()
}

// RoundTrip answers a request from memory or from the platform below.
func (o *Overlay) RoundTrip(req *http.Request) (*http.Response, error) {
	rt := o.route(req)
	if rt == nil || rt.open && !strings.HasPrefix(rt.path, storagePrefix) {
		return o.below.RoundTrip(req)
	}
	if !rt.changes() && !o.active.Load() && !rt.findsRemarks() {
		return o.below.RoundTrip(req)
	}
	p, err := o.platform(req.Context())
	if f, ok := err.(*failure); ok {
		return refusal(req, f)
	}
	if err != nil {
		return nil, err
	}
	o.under.revision.Store(int32(revisionOf(req)))
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	switch {
	case rt.changes():
		return o.inside(p, req)
	case rt.findsRemarks():
		return o.remarks(p, rt, req)
	case o.under.searches(rt):
		return o.search(p, rt, req, body)
	case o.under.mentions(req.URL.Path + "?" + req.URL.RawQuery + string(body)):
		return o.inside(p, req)
	}
	return o.below.RoundTrip(req)
}

// platform returns the platform in memory, once the user below is known.
func (o *Overlay) platform(ctx context.Context) (*Platform, error) {
	if err := recovered(func() { o.under.caller(ctx) }); err != nil {
		return nil, err
	}
	return o.open()
}

// changes reports whether a route writes.
func (rt *route) changes() bool {
	return rt.writes || rt.op != nil && rt.op.Effect != declare.Read || strings.HasPrefix(rt.path, storagePrefix) ||
		strings.Contains(rt.path, "upload-")
}

// route returns the route of a request, or nil.
func (o *Overlay) route(req *http.Request) *route {
	local := *req
	local.URL = &url.URL{Path: strings.TrimPrefix(req.URL.Path, o.root)}
	_, pattern := o.mux.Handler(&local)
	return o.routes[pattern]
}

// inside sends a request to the platform in memory.
func (o *Overlay) inside(p *Platform, req *http.Request) (*http.Response, error) {
	local := req.Clone(req.Context())
	local.URL.Path = strings.TrimPrefix(req.URL.Path, o.root)
	local.URL.RawPath = ""
	return p.RoundTripper().RoundTrip(local)
}

// bodyOf reads the JSON body of a request and restores it.
func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil || !strings.Contains(req.Header.Get("Content-Type"), "json") {
		return nil, nil
	}
	text, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	req.Body = io.NopCloser(bytes.NewReader(text))
	return text, err
}

// Upload uses the file at path as a component's upload, with a size and checksum. It is not copied, and need
// not exist yet.
func (o *Overlay) Upload(ctx context.Context, dataset, component, path, sum string, size int64) error {
	err := recovered(func() {
		p := must(o.platform(ctx))
		b := blob.Blob{ID: blob.NewID(), Size: size, MD5: sum}
		check(p.blobs.Link(b.ID, path))
		r := &Request{p: p, http: (&http.Request{}).WithContext(ctx), caller: o.under.caller(ctx), revision: newest}
		r.write(func() {
			doc, c := r.componentOf(dataset, component)
			r.keepWhole(upload{dataset: dataset, component: component, filename: filepath.Base(path)}, b, doc, c)
		})
	})
	if f, ok := err.(*failure); ok {
		err = &fault.ResponseError{Info: fault.Info{Message: f.Message}, Status: f.status}
	}
	return err
}

// newID returns the id for a new document.
func (p *Platform) newID(t *resource) string {
	if u := p.options.under; u != nil {
		return u.newID(t)
	}
	return p.ids.Next(p.options.Now())
}

func (u *beneath) newID(t *resource) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.numbers[t.plural]++
	return schema.PlannedID(t.plural, u.numbers[t.plural])
}

// planProduct completes an order at once, with the outputs that the analytic declares. Their contents are
// unknown before a real run.
func (r *Request) planProduct(ordered, product store.Doc) {
	product["status"] = statusAvailable
	product["start_date"], product["end_date"] = date(r.now()), date(r.now())
	deliverables, outputs := objectOf(product, "deliverables"), []any{}
	for _, v := range listOf(ordered, "deliverables") {
		slot := v.(map[string]any)
		name := store.Text(slot, "name")
		if _, wanted := deliverables[name]; !wanted {
			continue
		}
		output := store.Doc{
			"name": store.Text(product, "name") + " " + name, "type": "file", "company": product["company"],
			"categories": []any{}, "hidden": false, "published": false, "components": []any{}, schema.NotKnown: true,
			"properties": store.Doc{"product": product["_id"], "deliverable": name},
			"source":     store.Doc{"name": "analytics", "product": product["_id"]},
			"ingestion":  store.Doc{"status": statusCompleted},
		}
		for _, key := range []string{"project", "mission"} {
			if product[key] != nil {
				output[key] = product[key]
			}
		}
		r.create(datasets, output)
		deliverables[name] = output["_id"]
		outputs = append(outputs, output["_id"])
	}
	product["outputs"] = outputs
	r.p.addLog(r.tx, store.Text(product, "_id"), "info", "planned: it has not run", nil)
	r.save(products, product)
}

// tokens matches possible ids in a text.
var tokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`plan-[a-z_]+-\d{6,}|[0-9a-fA-F-]{24,36}`)
})

// mentions reports whether a text contains the id of a held document.
func (u *beneath) mentions(text string) bool {
	found := tokens().FindAllString(text, -1)
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, id := range found {
		if schema.IsPlannedID(id) {
			return true
		}
		for _, held := range u.held {
			if held[id] {
				return true
			}
		}
	}
	return false
}

// refusal returns the response to a request that failed.
func refusal(req *http.Request, f *failure) (*http.Response, error) {
	answer, err := answerJSON(req, f.status, f)
	if err == nil && f.again {
		answer.Header.Set("Retry-After", "1")
	}
	return answer, err
}

// answerJSON returns a response with a value as JSON.
func answerJSON(req *http.Request, status int, v any) (*http.Response, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)),
		ContentLength: int64(len(text)), Request: req}, nil
}
