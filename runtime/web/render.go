package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"transect/client"
	"transect/client/fault"
	"transect/client/human"
	"transect/client/transport"
)

// templates maps names, such as datasets.html, to templates.
type templates map[string]*template.Template

// view is the data of a template. A handler sets the first part.
type view struct {
	Title   string
	Section string   // path of the section that the page belongs to
	Data    any      // of the page
	Scripts []string // modules of the page, below /static/
	Topics  []string // live topics of the page, see events.go
	After   string   // cursors of the state that the page shows, such as runs%3A=4711
	Wide    bool     // use the whole window, without margins

	Nav      []section
	Platform string
	Version  string
	Actions  bool
	Form     string // token for forms
}

// parseTemplates reads each page on top of layout.html and the parts.
func (s *Server) parseTemplates() (templates, error) {
	base, err := template.New("layout.html").Funcs(s.functions()).ParseFS(files, "templates/layout.html",
		"templates/parts.html", "templates/map_parts.html")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	all := templates{}
	for _, name := range names {
		page := path.Base(name)
		if page == "layout.html" || strings.HasSuffix(page, "parts.html") {
			continue
		}
		t, err := base.Clone()
		if err == nil {
			t, err = t.ParseFS(files, name)
		}
		if err != nil {
			return nil, err
		}
		all[page] = t
	}
	return all, nil
}

// render sends a page.
func (s *Server) render(w http.ResponseWriter, r *http.Request, name string, v view) error {
	return s.renderStatus(w, r, http.StatusOK, name, v)
}

func (s *Server) renderStatus(w http.ResponseWriter, r *http.Request, status int, name string, v view) error {
	v.Nav = s.sections
	v.Platform, v.Version, v.Actions, v.Form = s.Platform, s.Version, s.Actions, s.gate.FormToken(r)
	var page bytes.Buffer
	if err := s.templates[name].ExecuteTemplate(&page, "layout.html", v); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := io.WriteString(w, human.Visible(page.String()))
	return err
}

// problem is an error in the form that a page shows.
type problem struct {
	Status  int    `json:"status"`
	Title   string `json:"title"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Away    bool   `json:"away,omitempty"` // the platform cannot be reached: the page reloads by itself
}

// notFound returns the error for something that does not exist.
func notFound(format string, args ...any) error { return fault.Of(&fault.KeyError{}, format, args...) }

func describe(err error) problem {
	p := problem{Status: http.StatusInternalServerError, Title: "This did not work",
		Message: transport.Redact(err.Error())}
	if f := fault.Find(err); f != nil {
		p.Hint = transport.Redact(f.Facts().Hint)
	}
	var response *fault.ResponseError
	errors.As(err, &response)
	answered := func(status int) bool { return response != nil && response.Status == status }
	switch {
	case is[*refusal](err):
		p.Status, p.Title = http.StatusForbidden, "This is not permitted"
	case is[*fault.KeyError](err), answered(http.StatusNotFound):
		p.Status, p.Title = http.StatusNotFound, "Not found"
	case errors.Is(err, client.ErrNoConnection):
		p.Status, p.Title = http.StatusServiceUnavailable, "No platform is connected"
		p.Message = "This page shows the data of a platform."
	case is[*fault.UsageError](err), is[*fault.ParameterError](err), is[*fault.SearchError](err),
		is[*fault.ValueError](err):
		p.Status = http.StatusBadRequest
	case fault.Transient(err), errors.Is(err, context.DeadlineExceeded):
		p.Status, p.Title, p.Away = http.StatusBadGateway, "The platform cannot be reached", true
		p.Hint = "Check the network and the platform." // hints for runs about timeouts do not apply
	case response != nil && response.Status >= 400 && response.Status < 500:
		if p.Title = "The platform refused this"; response.Status == http.StatusUnauthorized {
			p.Status = http.StatusBadGateway // the credentials of transect were refused, not the browser's
		} else {
			p.Status = response.Status
		}
	}
	return p
}

// is reports whether an error is of a type, or wraps one.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// fail responds with an error: JSON below /api/, else a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the browser has gone
	}
	p := describe(err)
	s.Logger.Debug("a request failed", "path", r.URL.Path, "status", p.Status, "reason", p.Message)
	if p.Away {
		w.Header().Set("Retry-After", "5")
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(p.Status)
		_ = json.NewEncoder(w).Encode(p)
		return
	}
	if p.Away {
		w.Header().Set("Refresh", "5") // reloads, even without JavaScript
	}
	section := "/"
	for _, e := range s.sections {
		if e.Path != "/" && strings.HasPrefix(r.URL.Path, e.Path) {
			section = e.Path
		}
	}
	if err := s.renderStatus(w, r, p.Status, "error.html", view{Title: p.Title, Section: section, Data: p}); err != nil {
		s.Logger.Error("a page cannot be made", "path", r.URL.Path, "reason", err)
	}
}

// refuse responds to unauthorised requests: a plain page without styles, which reveals nothing.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, title, advice string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w,
		`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">`+
			`<meta name="color-scheme" content="light dark"><title>Transect</title><h1>%s</h1><p>%s</p></html>`,
		template.HTMLEscapeString(title), template.HTMLEscapeString(advice))
}

// tileHost returns the origin of background tiles, for the content security policy.
func tileHost(tiles string) string {
	u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(tiles))
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
