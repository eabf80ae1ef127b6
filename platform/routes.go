package platform

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"transect/client"
	"transect/client/declare"
	"transect/client/schema"
	"transect/client/transport/httpserve"
	"transect/platform/internal/store"
)

// streamer handles a request whose bodies are not JSON.
type streamer func(http.ResponseWriter, *Request)

// route is one method and path of the platform.
type route struct {
	method string
	path   string // without the leading slash; {name} is an argument
	writes bool
	open   bool // needs no access token
	handle handler
	stream streamer
	// op and keys define the arguments a request may have; op is nil for steps of an operation that no
	// declaration names.
	op    *operation
	keys  []string
	args  fields // of an undeclared route
	query bool   // the arguments are in the query, as the body is bytes
}

// undeclared lists the routes that no declaration names: signing in, and the
// steps and addresses of transfers.
var undeclared = []func() []route{tokenRoutes, uploadRoutes, storageRoutes, downloadRoutes, tileRoutes,
	vectorTileRoutes}

// managers lists the functions that register the endpoints of the declared managers.
var managers = []func(){
	serveAccounts, serveShareTokens, serveAnalyticConfigurations, serveAnalytics,
	serveAnnotations, serveCredentials, serveDatasets, serveDatastreams, serveEstimations,
	serveFeatures, serveEquipment, serveTasks, serveMissions, serveFlights, serveProducts,
	serveProjects, serveRemarks, serveSeasons, serveTrials,
}

// allRoutes returns the declared and the undeclared routes, computed once.
var allRoutes = sync.OnceValue(func() []route {
	for _, register := range managers {
		register()
	}
	var all []route
	seen := map[string]bool{}
	for _, list := range undeclared {
		for _, rt := range list() {
			seen[rt.method+" /"+rt.path] = true
			all = append(all, rt)
		}
	}
	for _, op := range declarations(newest) {
		e, ok := services[op.Manager].endpoint(op)
		if !ok || seen[op.Method+" "+op.Path] {
			continue
		}
		all = append(all, route{method: op.Method, path: op.Path[1:], writes: op.Effect != declare.Read,
			handle: e.handle, stream: e.stream, op: op, keys: e.keys})
	}
	return all
})

// The revisions of the interface: what a client of an older one says of itself in the User-Agent.
const newest, oldest = 1, 3

// revisionOf returns the revision that a request was written for.
func revisionOf(r *http.Request) int {
	for product := range strings.FieldsSeq(r.UserAgent()) {
		if text, ok := strings.CutPrefix(product, "revision/"); ok {
			if n, err := strconv.Atoi(text); err == nil && n > newest && n <= oldest {
				return n
			}
		}
	}
	return newest
}

// declarations returns the operations of a revision.
func declarations(revision int) []*operation {
	all := operations(client.DeclarationsOf(revision))
	for _, op := range all {
		s := services[op.Manager]
		if t := s.resource; t != nil && op.Creates(t.name) {
			t.creations[revision] = op
			op.Override(schema.Names(t.rules))
		}
		if e, ok := s.endpoint(op); ok {
			op.Override(e.keys)
		}
	}
	return all
}

// older holds the operations of older revisions by method and path, once a client asked for one.
var older struct {
	sync.Mutex
	operations [oldest + 1]map[string]*operation
}

// in returns the operation as a revision has it, nil if it does not.
func (o *operation) in(revision int) *operation {
	if o == nil || revision == newest {
		return o
	}
	older.Lock()
	defer older.Unlock()
	all := older.operations[revision]
	if all == nil {
		all = map[string]*operation{}
		for _, op := range declarations(revision) {
			all[op.Method+" "+op.Path] = op
		}
		older.operations[revision] = all
	}
	return all[o.Method+" "+o.Path]
}

// routes returns a handler for all routes.
func (p *Platform) routes() http.Handler {
	mux := http.NewServeMux()
	methods := map[string]string{}
	for _, rt := range allRoutes() {
		mux.HandleFunc(rt.method+" /"+rt.path, p.serve(rt))
		methods["/"+rt.path] = rt.method
	}
	mux.HandleFunc("/", p.serve(route{open: true, stream: func(_ http.ResponseWriter, r *Request) {
		if method, ok := methods[r.http.URL.Path]; ok {
			panic(fail(http.StatusMethodNotAllowed, "MethodNotAllowed", "%s accepts %s requests only", r.http.URL.Path, method))
		}
		panic(fail(http.StatusNotFound, "RouteNotFound", "the platform has no route %s", r.http.URL.Path))
	}}))
	return mux
}

// serve returns the handler of one route.
func (p *Platform) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		service, _, _ := strings.Cut(strings.TrimPrefix(hr.URL.Path, "/"), "/")
		hr.Body = &requestBody{hr.Body}
		revision := revisionOf(hr)
		r := &Request{p: p, http: hr, op: rt.op.in(revision), revision: revision, service: service}
		started := &httpserve.StartedWriter{ResponseWriter: w}
		err := recovered(func() { p.answer(rt, started, r) })
		if err == nil {
			return
		}
		f := p.failed(r, err)
		if started.Begun {
			// The status has been sent; the response can only be aborted.
			panic(http.ErrAbortHandler)
		}
		if f.again {
			w.Header().Set("Retry-After", "1")
		}
		writeJSON(w, f.status, f)
	}
}

// answer runs a route. The body of an unauthenticated request is not read.
func (p *Platform) answer(rt route, w http.ResponseWriter, r *Request) {
	if rt.op != nil && r.op == nil {
		panic(fail(http.StatusNotFound, "RouteNotFound", "revision %d has no route %s", r.revision, r.http.URL.Path))
	}
	if !rt.open {
		r.read(r.authenticate)
	}
	checked := rt.op != nil || rt.args != nil
	switch {
	case rt.query:
		r.readQuery()
	case rt.stream == nil || checked:
		check(r.readBody(rt.maxBody()))
	}
	var result any
	run := r.read
	if rt.writes {
		run = r.write
	}
	if checked || rt.handle != nil {
		run(func() {
			if rt.op != nil {
				r.check(rt.keys)
			}
			if rt.args != nil {
				rt.checkArgs(r.body)
			}
			if rt.handle != nil {
				result = rt.once(r)
			}
		})
	}
	if rt.stream != nil {
		rt.stream(w, r)
		return
	}
	switch {
	case result == nil:
		result = store.Doc{}
	case rt.op != nil && rt.op.ResultKey != "":
		result = store.Doc{rt.op.ResultKey: result}
	}
	writeJSON(w, http.StatusOK, result)
}

// check refuses a body that does not fit the operation's declaration.
func (r *Request) check(more []string) {
	for _, p := range r.op.args {
		if p.In == schema.InPath {
			if given := r.body[p.Key]; given != nil && given != r.path(p.Key) {
				panic(wrong(p.Key, "is not the %s of the path", p.Key))
			}
			r.body[p.Key] = r.path(p.Key)
		}
	}
	if !slices.Contains(more, "*") {
		check(r.op.CheckKeys(r.body, more))
	}
	check(r.op.Check(r.body))
}

// checkArgs refuses arguments that an undeclared route does not take.
func (rt route) checkArgs(given store.Doc) {
	if !slices.Contains(rt.keys, "*") {
		check(checkKeys(given, schema.Names(rt.args)))
	}
	check(schema.CheckFields(rt.args, "", given))
}

// keptKeys is how long the response to a write with an Idempotency-Key is kept.
const keptKeys = 24 * time.Hour

// once carries out a write, unless it was done under the same Idempotency-Key: then it returns the first
// response. The same key with another request is refused.
func (rt route) once(r *Request) any {
	key := r.http.Header.Get("Idempotency-Key")
	// secrets of OAuth clients are not kept
	if key == "" || r.p.options.IgnoreKeys || rt.op == nil || rt.op.Effect == declare.Read ||
		rt.op.Manager == "oauth_clients" {
		return rt.handle(r)
	}
	sum := sha256.Sum256([]byte(r.http.Method + " " + r.http.URL.RequestURI() + "\n" + string(r.raw)))
	request := hex.EncodeToString(sum[:])
	var first, answer string
	switch err := r.QueryRow("SELECT request, answer FROM keys WHERE user = ? AND key = ? AND time > ?",
		r.caller.user, key, r.now().Add(-keptKeys).UnixMilli()).Scan(&first, &answer); {
	case err == nil && first != request:
		panic(fail(http.StatusUnprocessableEntity, "IdempotencyKeyReused",
			"the Idempotency-Key %q was sent before, with another request", key))
	case err == nil:
		r.p.repeated.Add(1)
		return json.RawMessage(answer)
	case !errors.Is(err, sql.ErrNoRows):
		panic(err)
	}
	result := rt.handle(r)
	text := must(json.Marshal(result))
	if result == nil {
		text = []byte("{}")
	}
	r.exec("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?)", r.caller.user, key, request, string(text),
		r.now().UnixMilli())
	return result
}

// RepeatedKeys returns the number of writes answered with the response to an earlier one with the same
// Idempotency-Key.
func (p *Platform) RepeatedKeys() int64 { return p.repeated.Load() }

// forgetKeys removes expired responses.
func (t tx) forgetKeys(now time.Time) {
	t.exec("DELETE FROM keys WHERE time <= ?", now.Add(-keptKeys).UnixMilli())
}
