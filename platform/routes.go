package platform

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"transect/platform/store"
)

// handler does the work of one route. What it returns is the answer's JSON.
type handler func(*Request) (any, error)

// route is one address of the platform.
type route struct {
	method string
	path   string // without the leading slash; {name} is an argument
	writes bool
	open   bool // needs no access token
	handle handler
	// stream takes the place of handle where bodies are no JSON: it reads and
	// writes them itself, and opens transactions only for as long as needed.
	stream func(http.ResponseWriter, *Request) error
}

// read is a route that changes nothing; write is one whose changes are kept
// together, when it succeeds.
func read(path string, h handler) route { return route{method: "POST", path: path, handle: h} }
func write(path string, h handler) route {
	return route{method: "POST", path: path, handle: h, writes: true}
}

// managers lists the routes, a file each. A new manager is a line here.
var managers = []func() []route{
	tokenRoutes,
	analyticRoutes,
	annotationRoutes,
	carrierModelRoutes,
	carrierRoutes,
	collectionRoutes,
	commentRoutes,
	companyRoutes,
	configurationRoutes,
	credentialRoutes,
	cropRoutes,
	datasetRoutes,
	datastreamAssetRoutes,
	datastreamFileRoutes,
	datastreamRoutes,
	datastreamTemplateRoutes,
	downloadRoutes,
	estimationMethodRoutes,
	estimationRoutes,
	featureRoutes,
	fieldRoutes,
	flightRoutes,
	growthStageRoutes,
	missionRoutes,
	oauthClientRoutes,
	pilotRoutes,
	plannedMissionRoutes,
	productRoutes,
	projectRoutes,
	sensorModelRoutes,
	sensorRoutes,
	shareTokenRoutes,
	storageRoutes,
	tagRoutes,
	taskRoutes,
	teamRoutes,
	trialRoutes,
	uploadRoutes,
	userRoutes,
	variableRoutes,
}

// routes builds the handler of all of them.
func (p *Platform) routes() http.Handler {
	mux := http.NewServeMux()
	methods := map[string]string{}
	for _, list := range managers {
		for _, rt := range list() {
			mux.HandleFunc(rt.method+" /"+rt.path, p.serve(rt))
			methods["/"+rt.path] = rt.method
		}
	}
	mux.HandleFunc("/", p.serve(route{open: true, stream: func(_ http.ResponseWriter, r *Request) error {
		if method, ok := methods[r.http.URL.Path]; ok {
			return fail(http.StatusMethodNotAllowed, "MethodNotAllowed", "%s takes %s requests only", r.http.URL.Path, method)
		}
		return fail(http.StatusNotFound, "RouteNotFound", "the platform has no route %s", r.http.URL.Path)
	}}))
	return mux
}

// serve answers the requests to one route.
func (p *Platform) serve(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		service, _, _ := strings.Cut(strings.TrimPrefix(hr.URL.Path, "/"), "/")
		r := &Request{p: p, http: hr, service: service}
		started := &startedWriter{ResponseWriter: w}
		err := p.answer(rt, started, r)
		if err == nil {
			return
		}
		f := p.failed(r, err)
		if started.begun {
			// The status is out already: breaking off is all there is to say.
			panic(http.ErrAbortHandler)
		}
		writeJSON(w, f.status, f)
	}
}

// answer runs a route; a panic in it becomes an error.
func (p *Platform) answer(rt route, w http.ResponseWriter, r *Request) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if rt.stream != nil {
		if !rt.open {
			if err := r.read(r.authenticate); err != nil {
				return err
			}
		}
		return rt.stream(w, r)
	}
	unreadable := r.readBody()
	var result any
	run := r.read
	if rt.writes {
		run = r.write
	}
	if err := run(func() (err error) {
		if !rt.open {
			err = r.authenticate()
		}
		if err == nil {
			err = unreadable
		}
		if err == nil {
			result, err = rt.handle(r)
		}
		return err
	}); err != nil {
		return err
	}
	if result == nil {
		result = store.Doc{}
	}
	writeJSON(w, http.StatusOK, result)
	return nil
}

// startedWriter knows whether the answer has begun.
type startedWriter struct {
	http.ResponseWriter
	begun bool
}

func (w *startedWriter) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *startedWriter) Write(p []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find the writer underneath.
func (w *startedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
