package web

import (
	"crypto/hmac"
	"net/http"
)

// mostForm bounds the body of a form.
const mostForm = 64 << 10

// post registers a route that changes something. Its form brings along the token
// of the session ({{.Form}} as "form").
func (s *Server) post(path string, h handler) {
	s.mux.HandleFunc("POST "+path, s.answer(func(w http.ResponseWriter, r *http.Request) error {
		r.Body = http.MaxBytesReader(w, r.Body, mostForm)
		if !hmac.Equal([]byte(r.PostFormValue("form")), []byte(s.formToken(r))) {
			return &refusal{"the form is not from this page, or from before transect was restarted"}
		}
		return h(w, r)
	}))
}

// refusal is the error of what is not permitted.
type refusal struct{ why string }

func (e *refusal) Error() string { return e.why }

// anotherRoutes registers the page that makes an address for another browser.
func (s *Server) anotherRoutes() {
	page := func(w http.ResponseWriter, r *http.Request, address string) error {
		v := view{Title: "Open in another browser"}
		if address != "" {
			v.Data = address
		}
		return s.render(w, r, "another.html", v)
	}
	s.get("/another", func(w http.ResponseWriter, r *http.Request) error { return page(w, r, "") })
	s.post("/another", func(w http.ResponseWriter, r *http.Request) error { return page(w, r, s.Address()) })
}
