package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"transect/client/fault"
)

// openPath takes the one-time token of an address.
const openPath = "/open"

// maxSessions is how many browsers stay signed in; the oldest has to be opened
// anew then.
const maxSessions = 100

// auth knows the browsers that may see the page. A token opens one browser and
// is worth nothing afterwards; the browser keeps a cookie instead.
type auth struct {
	cookie   string   // its name: browsers do not tell ports apart
	hosts    []string // names in Host that are ours, besides addresses
	reach    string   // host and port of the addresses that are given out
	loopback bool     // of addresses, only those of this machine are ours
	key      []byte   // of the tokens in forms
	now      func() time.Time

	mu       sync.Mutex
	tokens   map[string]bool
	sessions []string
}

func newAuth(listen string, names []string, now func() time.Time) (*auth, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fault.Of(&fault.UsageError{}, "%q is not an address to listen on: %w", listen, err)
	}
	a := &auth{cookie: "transect_" + port, hosts: append([]string{"localhost"}, names...), key: []byte(secret()), now: now, tokens: map[string]bool{}}
	ip, err := netip.ParseAddr(host)
	a.reach = listen
	a.loopback = host == "localhost" || err == nil && ip.IsLoopback()
	if !a.loopback {
		a.hosts = append(a.hosts, strings.ToLower(host))
		if name, err := os.Hostname(); err == nil {
			a.hosts = append(a.hosts, strings.ToLower(name))
			if ip.IsUnspecified() {
				a.reach = net.JoinHostPort(name, port)
			}
		}
	}
	return a, nil
}

func secret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Address is a new address of the page, which opens one browser.
func (s *Server) Address() string {
	token := secret()
	s.auth.mu.Lock()
	defer s.auth.mu.Unlock()
	s.auth.tokens[token] = true
	return fmt.Sprintf("http://%s%s?token=%s", s.auth.reach, openPath, token)
}

// admit reports whether a request may pass, and answers it otherwise.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case !s.auth.ours(r.Host):
		s.refuse(w, r, http.StatusForbidden, "This is not the address of the page.",
			"The request is for the host "+r.Host+". Open the address that transect printed.")
	case !sameOrigin(r):
		s.refuse(w, r, http.StatusForbidden, "The request comes from another site.", "Open the address that transect printed.")
	case r.URL.Path == openPath:
		s.open(w, r)
	case s.session(r) == "":
		s.refuse(w, r, http.StatusUnauthorized, "This browser has not been let in.", howToEnter)
	default:
		return true
	}
	return false
}

const howToEnter = "Open the address with a token that transect printed. Each address opens one browser: " +
	"press Enter in the terminal of transect ui for another one, or choose “Open in another browser” at the foot of a page that is open. " +
	"After a restart of transect take the new address."

// ours reports whether a Host header names this server. A name that somebody's
// DNS could point here does not.
func (a *auth) ours(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if ip, err := netip.ParseAddr(host); err == nil {
		return !a.loopback || ip.IsLoopback()
	}
	for _, h := range a.hosts {
		if host == h {
			return true
		}
	}
	return false
}

// sameOrigin reports whether no other site sent the request. Links from
// elsewhere may lead here; the cookie does not come along then.
func sameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "cross-site" && site != "same-site" || r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// session is the session of a request, "" without one.
func (s *Server) session(r *http.Request) string {
	c, err := r.Cookie(s.auth.cookie)
	if err != nil || c.Value == "" {
		return ""
	}
	s.auth.mu.Lock()
	defer s.auth.mu.Unlock()
	for _, known := range s.auth.sessions {
		if hmac.Equal([]byte(known), []byte(c.Value)) {
			return known
		}
	}
	return ""
}

// open turns a token into a cookie.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		s.refuse(w, r, http.StatusMethodNotAllowed, "This address is for opening.", howToEnter)
		return
	}
	session := s.auth.redeem(r.URL.Query().Get("token"))
	if session == "" && s.session(r) == "" {
		s.refuse(w, r, http.StatusUnauthorized, "This address has been used, or was never given.", howToEnter)
		return
	}
	if session != "" {
		http.SetCookie(w, &http.Cookie{Name: s.auth.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	// A redirect would carry no cookie where a link of another site was followed.
	start := "/"
	if s.Folder != "" {
		start = "/folder"
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer") // the address of this answer holds the token
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">`+
		`<title>Transect</title><meta http-equiv="refresh" content="0;url=%s"><p><a href="%s">Continue to Transect</a></p></html>`, start, start)
}

// redeem uses a token up and returns a new session, or "".
func (a *auth) redeem(token string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if token == "" || !a.tokens[token] {
		return ""
	}
	delete(a.tokens, token)
	session := secret()
	a.sessions = append(a.sessions, session)
	if len(a.sessions) > maxSessions {
		a.sessions = a.sessions[1:]
	}
	return session
}

// formToken is what a form of this session has to bring along.
func (s *Server) formToken(r *http.Request) string {
	mac := hmac.New(sha256.New, s.auth.key)
	mac.Write([]byte(s.session(r)))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// secure sets the headers of every answer.
func (s *Server) secure(h http.Header) {
	images := "img-src 'self' data: blob:"
	if host := tileHost(s.Tiles); host != "" {
		images += " " + host
	}
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; "+images+
		"; connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, forms have the origin null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
