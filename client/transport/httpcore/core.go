// Package httpcore sends HTTP requests by the rules that all of Transect shares: proxies, verified
// certificates, bounded redirects, stall detection, and the permission hooks of the sandbox. It depends
// neither on the platform nor on Lua.
//
// client/transport (the platform) and stdlib/web (any other host) pass a Request; its Redirect function is
// their own policy for redirects. Faults of the hooks pass through; an exchange without an answer is a *Lost,
// which Failure converts to a fault.
//
// Begin reading at Core.Do; dial.go makes the connections, watch.go watches them.
package httpcore

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"transect/client/fault"
)

// Dial connects to an address.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Options configure a Core.
type Options struct {
	Proxy       string                           // for every host; from the environment when empty
	Env         func(name string) (string, bool) // where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read
	Roots       *x509.CertPool                   // trusted certificates; the system's when nil
	InsecureTLS bool                             // do not verify certificates
	HTTP2       bool                             // HTTP/1.1 only unless set
	Silence     time.Duration                    // longest silence of a connection; no limit when 0
	Connections int                              // idle connections kept to one host
	Dial        Dial                             // connects to hosts; over the network when nil
	Local       http.RoundTripper                // answers in-process, without network, when set

	// Wrap wraps the transport that sends the requests. Optional.
	Wrap func(below http.RoundTripper) (http.RoundTripper, error)

	// Reach is called with host:port before connecting to a host, including redirects; Sending with the size
	// of each body. Optional.
	Reach   func(hostport string) error
	Sending func(n int64) error
	// Writing is called before each write to a connection. It may wait. Optional.
	Writing func() error

	// Unresponsive is called from time to time while a host accepts no connection, or confirms nothing of
	// what it was sent, and no other connection makes progress either; lasted is the duration so far.
	// Optional.
	Unresponsive func(u *url.URL, lasted time.Duration)
	// Unanswered is called from time to time while a host has received all of a request and does not answer;
	// lasted is the duration so far. Optional.
	Unanswered func(u *url.URL, lasted time.Duration)
}

// Core sends requests. It is safe for concurrent use.
type Core struct {
	options Options
	wire    http.RoundTripper
	moved   atomic.Int64 // when a byte was last received or confirmed, in Unix nanoseconds
}

// New returns a Core, or a *fault.ConfigError for an invalid proxy.
func New(o Options) (*Core, error) {
	c := &Core{options: o, wire: o.Local}
	if o.Local == nil {
		wire, err := dial(o)
		if err != nil {
			return nil, err
		}
		c.wire = wire
	}
	if o.Wrap == nil {
		return c, nil
	}
	var err error
	c.wire, err = o.Wrap(c.wire)
	return c, err
}

// Close drops idle connections.
func (c *Core) Close() {
	if wire, ok := c.wire.(interface{ CloseIdleConnections() }); ok {
		wire.CloseIdleConnections()
	}
}

// Request is one request with the redirects it follows, which change it.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header // a Host in it replaces the URL's
	Body   func() (io.ReadCloser, error)
	Size   int64 // of the body; -1 when unknown

	Stall     time.Duration  // longest time without progress; no limit when 0
	Answer    time.Duration  // longest wait for the answer after sending; by Stall and the size when 0
	Confirmed func(n int64)  // called from time to time with the bytes of the body that the peer has received; optional
	Cookies   http.CookieJar // sent and kept; none when nil
	Redirects int            // maximum number; none when negative

	// Redirect prepares the request for another address, or refuses to follow.
	Redirect func(status int, next *url.URL) error
	// Observe is called for hops that Do does not return: redirects, and failed ones. Optional.
	Observe func(answer *http.Response, err error)
	Started time.Time // when the last hop was sent
}

// Lost is the error of an exchange without a complete answer.
type Lost struct {
	Cause  error
	Sent   bool          // some of the request may have arrived
	Silent time.Duration // time without progress
	At     *url.URL      // final address of a redirect; nil when there was none
}

func (e *Lost) Error() string { return e.Cause.Error() }
func (e *Lost) Unwrap() error { return e.Cause }

// Do sends a request and follows redirects. Any status is an answer; the caller closes its body.
func (c *Core) Do(ctx context.Context, r *Request) (*http.Response, error) {
	for n := 0; ; n++ {
		answer, err := c.hop(ctx, r)
		if err != nil {
			var lost *Lost
			if errors.As(err, &lost) {
				if n > 0 {
					lost.At = r.URL
				}
				r.observe(nil, err)
			}
			return nil, err
		}
		target := redirection(answer)
		if target == "" || r.Redirects < 0 {
			return answer, nil
		}
		r.observe(answer, nil)
		_ = answer.Body.Close()
		next, err := r.URL.Parse(target)
		switch {
		case err != nil || next.Hostname() == "" || next.Scheme != "http" && next.Scheme != "https":
			return nil, fault.Of(&fault.ConnectionError{}, "%s redirects to an invalid address", r.URL.Host)
		case n >= r.Redirects:
			return nil, fault.Of(&fault.ConnectionError{}, "%s redirects more than %d times", r.URL.Host, r.Redirects)
		}
		if err := r.Redirect(answer.StatusCode, next); err != nil {
			return nil, err
		}
		r.URL = next
	}
}

func (r *Request) observe(answer *http.Response, err error) {
	if r.Observe != nil {
		r.Observe(answer, err)
	}
}

func redirection(r *http.Response) string {
	switch r.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.Header.Get("Location")
	}
	return ""
}

// hop makes one request and waits for the head of its answer.
func (c *Core) hop(ctx context.Context, r *Request) (*http.Response, error) {
	local := c.options.Local != nil
	if reach := c.options.Reach; reach != nil && !local {
		if err := reach(HostPort(r.URL)); err != nil {
			return nil, err
		}
	}
	if sending := c.options.Sending; sending != nil && r.Body != nil {
		if err := sending(r.Size); err != nil {
			return nil, err
		}
	}
	r.Started = time.Now()
	var connected atomic.Bool
	var w *watch
	if !local {
		ctx, w = c.watch(ctx, r)
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
			connected.Store(true)
			w.use(i.Conn)
		}})
	}
	answer, err := c.roundTrip(ctx, r)
	if err != nil {
		silent := time.Duration(0)
		if w != nil {
			silent, err = w.end(), w.cause(err)
			w.cancel(nil)
		}
		if fault.Find(err) != nil {
			return nil, err
		}
		return nil, &Lost{Cause: err, Sent: local || connected.Load(), Silent: silent}
	}
	if w != nil {
		answer.Body = w.body(answer.Body)
	}
	return answer, nil
}

// unreplayed spells Idempotency-Key so that net/http does not recognise it: it would resend a write by itself
// when the connection breaks, and not every platform supports the header.
func unreplayed(h http.Header) http.Header {
	const name = "Idempotency-Key"
	if keys, given := h[name]; given {
		h = h.Clone()
		delete(h, name)
		h[strings.ToLower(name)] = keys
	}
	return h
}

func (c *Core) roundTrip(ctx context.Context, r *Request) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL.String(), nil)
	if err != nil {
		return nil, fault.Of(&fault.ParameterError{}, "the method %q cannot be sent", r.Method)
	}
	if request.Header = r.Header; r.Cookies != nil {
		request.Header = r.Header.Clone()
		for _, cookie := range r.Cookies.Cookies(r.URL) {
			request.AddCookie(cookie)
		}
	}
	if host := r.Header.Get("Host"); host != "" {
		request.Host = host
	}
	request.Header = unreplayed(request.Header)
	if r.Body != nil {
		if request.Body, err = r.Body(); err != nil {
			if fault.Find(err) == nil {
				err = fault.Of(&fault.FileError{}, "cannot read what is to be sent: %w", err)
			}
			return nil, err
		}
		request.ContentLength, request.GetBody = r.Size, r.Body
	}
	answer, err := c.wire.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if r.Cookies != nil {
		r.Cookies.SetCookies(r.URL, answer.Cookies())
	}
	answer.Request = request
	return answer, nil
}

// HostPort returns the host and port of u, as permissions name it.
func HostPort(u *url.URL) string { return net.JoinHostPort(u.Hostname(), Port(u)) }

// Port returns u's port, or the default one of its scheme.
func Port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// SameOrigin reports whether b is a's host under the same scheme and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && Port(a) == Port(b)
}

// Upgrades reports whether b is a's host under https, both on their usual ports.
func Upgrades(a, b *url.URL) bool {
	return a.Scheme == "http" && b.Scheme == "https" && strings.EqualFold(a.Hostname(), b.Hostname()) &&
		Port(a) == "80" && Port(b) == "443"
}
