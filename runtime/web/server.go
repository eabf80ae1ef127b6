package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"transect/client"
	"transect/client/transport/httpserve"
	"transect/runtime/jobs"
	"transect/runtime/plan"
	"transect/runtime/unattended/cron"
	"transect/runtime/unattended/history"
)

//go:embed templates static
var files embed.FS

// Options configure the page.
type Options struct {
	Client   *client.Client // nil shows only the folder and the runs
	Platform string         // name of the platform, such as its host
	History  history.Store
	JobStore *jobs.Store   // nil shows no jobs
	Folder   string        // a folder to check before it is sent; "" for none
	Plans    []string      // folders whose plans are shown
	Cache    string        // folder of generated pictures; "" keeps none
	Actions  bool          // allow writing to the platform
	Tiles    string        // template of background tiles, such as https://host/{z}/{x}/{y}.png; "" for none
	Listen   string        // host and port of the listener
	Names    []string      // further names of the host
	Poll     time.Duration // how often to poll the platform while a page is open; default 3 s
	Version  string
	Env      func(name string) (string, bool)
	Now      func() time.Time
	// Again starts transect in a folder with arguments, and returns once it has started. Nil disables it.
	Again  func(folder string, arguments []string) error
	Login  []string // options that connect a command like the page
	Logger *slog.Logger
}

// Server serves the page. It is safe for concurrent use.
type Server struct {
	Options
	ctx       context.Context
	gate      *httpserve.Gate
	mux       *http.ServeMux
	templates templates
	events    *events
	pictures  *pictures
	live      map[string]livePage // by name
	nameCache nameCache
	watched   timedCache[platformState]
	sections  []section
	runs      *history.Cache
	cron      timedCache[[]*cron.Job]
	assets    map[string]asset
	tiles     tileAddresses
	folder    *folderCheck                    // nil without a folder
	sentFiles timedCache[map[string]sentFile] // by path
	plan      timedCache[*plan.Plan]          // shown last
}

// section is an entry of the navigation, and registers its pages.
type section struct {
	Path, Title string
	routes      func()
}

// New returns the page's server. Live updates end with ctx.
func New(ctx context.Context, o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Poll = cmp.Or(o.Poll, 3*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{Options: o, ctx: ctx, mux: http.NewServeMux(), live: map[string]livePage{}}
	s.sections = []section{
		{"/", "Overview", s.overviewRoutes},
		{"/folder", "Folder", s.folderRoutes},
		{"/map", "Map", s.mapRoutes},
		{"/datasets", "Datasets", s.datasetRoutes},
		{"/products", "Products", s.productRoutes},
		{"/plans", "Plans", s.planRoutes},
		{"/runs", "Runs", s.runRoutes},
		{"/jobs", "Jobs", s.jobRoutes},
	}
	s.sections = slices.DeleteFunc(s.sections, func(e section) bool {
		return e.Path == "/folder" && o.Folder == "" || e.Path == "/jobs" && o.JobStore == nil
	})
	var err error
	if s.gate, err = httpserve.NewGate(o.Listen, o.Names); err != nil {
		return nil, err
	}
	if s.templates, err = s.parseTemplates(); err != nil {
		return nil, err
	}
	if s.assets, err = readAssets(); err != nil {
		return nil, err
	}
	s.events = newEvents(s)
	s.mux.HandleFunc("GET /static/", s.static)
	s.stream("/events", s.serveEvents)
	s.topic("platform", s.watchPlatform)
	s.topic("parts", s.followParts)
	s.topic("lines", s.followLog)
	s.mux.Handle("GET /favicon.ico", http.RedirectHandler("/static/icon.svg",
		http.StatusFound)) // requested by browsers on plain-text pages
	s.pictures = newPictures(s)
	s.pictureRoutes()
	s.anotherRoutes()
	s.actionRoutes()
	for _, section := range s.sections {
		section.routes()
	}
	s.mux.HandleFunc("GET /", s.answer(func(_ http.ResponseWriter, r *http.Request) error {
		return notFound("there is no page %s", r.URL.Path)
	}))
	return s, nil
}

// handler answers a request. An error becomes a page, or JSON below /api/.
type handler func(w http.ResponseWriter, r *http.Request) error

// get registers a route that reads. {name} in the path is r.PathValue("name"). Its requests to the platform
// end after pageTimeout.
func (s *Server) get(path string, h handler) { s.stream(path, bounded(h)) }

// stream registers a route whose response may take any time.
func (s *Server) stream(path string, h handler) {
	if path == "/" {
		path = "/{$}"
	}
	s.mux.HandleFunc("GET "+path, s.answer(h))
}

func (s *Server) answer(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		started := &httpserve.StartedWriter{ResponseWriter: w}
		if err := h(started, r); err != nil {
			if started.Begun {
				s.Logger.Debug("a response was broken off", "path", r.URL.Path, "reason", err)
				panic(http.ErrAbortHandler)
			}
			s.fail(w, r, err)
		}
	}
}

// Over returns a handler that serves the page's paths, and passes others to another handler, such as the
// platform's.
func (s *Server) Over(other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := s.mux.Handler(r)
		if pattern != "" && pattern != "GET /" || r.URL.Path == openPath {
			s.ServeHTTP(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
}

// ServeHTTP responds to authorised requests.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.secure(w.Header())
	if s.admit(w, r) {
		s.mux.ServeHTTP(w, r)
	}
}

// asset is a static file.
type asset struct {
	content   []byte
	kind, tag string
}

func readAssets() (map[string]asset, error) {
	assets := map[string]asset{}
	err := fs.WalkDir(files, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		sum := sha256.Sum256(content)
		assets["/"+name] = asset{content, contentType(name), `"` + hex.EncodeToString(sum[:8]) + `"`}
		return err
	})
	return assets, err
}

// contentType returns the type of a file by its name, independently of the system's tables.
func contentType(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		return mime.TypeByExtension(ext)
	}
}

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	a, ok := s.assets[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "private, no-cache") // revalidated, usually with 304
	w.Header().Set("ETag", a.tag)
	w.Header().Set("Content-Type", a.kind)
	if r.Header.Get("If-None-Match") == a.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(a.content)
}
