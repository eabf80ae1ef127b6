package httpserve

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"

	"transect/client/fault"
)

// maxSessions limits the browsers that stay signed in; beyond it the oldest has to sign in again.
const maxSessions = 100

// Gate authenticates browsers. A token is valid for one browser, once; the browser keeps a cookie instead.
type Gate struct {
	cookie   string   // name of the cookie: browsers share cookies between ports
	hosts    []string // host names of this server, besides addresses
	reach    string   // host and port in the addresses handed out
	loopback bool     // accept only addresses of this machine
	key      []byte   // for the tokens in forms

	mu       sync.Mutex
	tokens   map[string]bool
	sessions []string
}

// NewGate returns the gate of a server that listens on "HOST:PORT", with further names of the host.
func NewGate(listen string, names []string) (*Gate, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fault.Of(&fault.UsageError{}, "%q is not an address to listen on: %w", listen, err)
	}
	ip, err := netip.ParseAddr(host)
	g := &Gate{cookie: "transect_" + port, hosts: append([]string{"localhost"}, names...), reach: Reach(listen),
		loopback: host == "localhost" || err == nil && ip.IsLoopback(), key: []byte(secret()), tokens: map[string]bool{}}
	if !g.loopback {
		g.hosts = append(g.hosts, strings.ToLower(host))
		if name, err := os.Hostname(); err == nil {
			g.hosts = append(g.hosts, strings.ToLower(name))
		}
	}
	return g, nil
}

func secret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Address returns a new address, which lets one browser in at a path.
func (g *Gate) Address(path string) string {
	token := secret()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens[token] = true
	return "http://" + g.reach + path + "?token=" + token
}

// Ours reports whether a Host header names this server, as opposed to a foreign name that resolves to it (DNS
// rebinding).
func (g *Gate) Ours(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if ip, err := netip.ParseAddr(host); err == nil {
		return !g.loopback || ip.IsLoopback()
	}
	return slices.Contains(g.hosts, host)
}

// SameOrigin reports whether no other site sent the request. Links from other sites are allowed; they come
// without the cookie.
func SameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "cross-site" && site != "same-site" ||
		r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// Session returns the session of a request, "" without one.
func (g *Gate) Session(r *http.Request) string {
	c, err := r.Cookie(g.cookie)
	if err != nil || c.Value == "" {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, session := range g.sessions {
		if hmac.Equal([]byte(session), []byte(c.Value)) {
			return session
		}
	}
	return ""
}

// Open signs in the browser of a request by the token in its address, and reports whether it is signed in.
func (g *Gate) Open(w http.ResponseWriter, r *http.Request) bool {
	token, session := r.URL.Query().Get("token"), secret()
	g.mu.Lock()
	known := g.tokens[token]
	delete(g.tokens, token)
	if known {
		g.sessions = append(g.sessions, session)
		g.sessions = g.sessions[max(0, len(g.sessions)-maxSessions):]
	}
	g.mu.Unlock()
	if !known {
		return g.Session(r) != ""
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: session, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	return true
}

// FormToken returns the token that a form of this session has to contain.
func (g *Gate) FormToken(r *http.Request) string {
	mac := hmac.New(sha256.New, g.key)
	mac.Write([]byte(g.Session(r)))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// MayPost reports whether a form contains its token.
func (g *Gate) MayPost(r *http.Request) bool {
	return hmac.Equal([]byte(r.PostFormValue("form")), []byte(g.FormToken(r)))
}
