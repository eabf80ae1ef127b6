package web

import (
	"fmt"
	"net/http"

	"transect/client/transport/httpserve"
)

// openPath accepts the one-time token of an address.
const openPath = "/open"

// Address returns a new address of the page, valid for one browser.
func (s *Server) Address() string { return s.gate.Address(openPath) }

// admit reports whether a request may pass, and otherwise responds with an error.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case !s.gate.Ours(r.Host):
		s.refuse(w, r, http.StatusForbidden, "This is not the address of the page.",
			"The request is for the host "+r.Host+". Open the address that transect printed.")
	case !httpserve.SameOrigin(r):
		s.refuse(w, r, http.StatusForbidden, "The request comes from another site.",
			"Open the address that transect printed.")
	case r.URL.Path == openPath:
		s.open(w, r)
	case s.gate.Session(r) == "":
		s.refuse(w, r, http.StatusUnauthorized, "This browser has no access yet.", howToEnter)
	default:
		return true
	}
	return false
}

const howToEnter = "Open the address with a token that transect printed. Each address opens one browser: " +
	"press Enter in the terminal of transect ui for another one, or choose “Open in another browser” at the foot of a " +
	"page that is open. " +
	"After a restart of transect take the new address."

// open exchanges a token for a cookie.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		s.refuse(w, r, http.StatusMethodNotAllowed, "This address can only be opened.", howToEnter)
		return
	}
	if !s.gate.Open(w, r) {
		s.refuse(w, r, http.StatusUnauthorized, "This address has been used already, or was never issued.", howToEnter)
		return
	}
	// After a link from another site, a redirect would be requested without the cookie.
	start := "/"
	if s.Folder != "" {
		start = "/folder"
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer") // this response's address contains the token
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">`+
		`<title>Transect</title><meta http-equiv="refresh" content="0;url=%s"><p><a href="%s">Continue to Transect</a></p></html>`, start, start)
}

// secure sets the headers of every response.
func (s *Server) secure(h http.Header) {
	images := "img-src 'self' data: blob:"
	if host := tileHost(s.Tiles); host != "" {
		images += " " + host
	}
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "+images+
		"; connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, forms would send the origin null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
