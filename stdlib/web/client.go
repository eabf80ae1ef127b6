// Package web sends plain HTTP requests to any host, by the rules the platform
// is talked to: certificates verified, proxies of the environment, redirects
// bounded and without the credentials once they leave the origin. Its errors
// name a host and never what an address, a header or a body may hold of secrets.
package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"golang.org/x/net/http/httpproxy"

	"transect/client/fault"
)

const (
	longestConnect = 30 * time.Second
	idleConnection = 30 * time.Second
	maxHeaderBytes = 1 << 20
)

// Options shapes a client. Zero values are fine.
type Options struct {
	// Env is where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are looked up; the
	// process's environment when nil.
	Env func(name string) (string, bool)
	// Permit is asked for host:port before a host is talked to, that of each
	// redirect too. Everything is allowed when nil.
	Permit func(hostport string) error
	// Sending is told the bytes of a body before they are sent, and may refuse.
	Sending func(n int64) error
	// Roots vouch for certificates. When nil the system's do, with those of the
	// file SSL_CERT_FILE of Env.
	Roots *x509.CertPool
	// UserAgent names the program.
	UserAgent string
}

// Client sends requests. It keeps connections: Close it. Any goroutine may use it.
type Client struct {
	options Options
	wire    *http.Transport
	broken  error // what is wrong with the settings
}

// New makes a client.
func New(o Options) *Client {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.UserAgent == "" {
		o.UserAgent = "transect"
	}
	var broken error
	if file, ok := o.Env("SSL_CERT_FILE"); ok && file != "" && o.Roots == nil {
		o.Roots, broken = LoadRoots(file, os.ReadFile)
	}
	dialer := &net.Dialer{Timeout: longestConnect, KeepAlive: 30 * time.Second}
	return &Client{options: o, broken: broken, wire: &http.Transport{
		Proxy:                  proxy(o.Env),
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    longestConnect,
		IdleConnTimeout:        idleConnection,
		MaxIdleConnsPerHost:    16,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}}
}

// Close ends idle connections.
func (c *Client) Close() { c.wire.CloseIdleConnections() }

// Permit asks whether a host may be talked to.
func (c *Client) Permit(hostport string) error {
	if c.options.Permit == nil {
		return nil
	}
	return c.options.Permit(hostport)
}

// Sending asks whether n more bytes may be sent.
func (c *Client) Sending(n int64) error {
	if c.options.Sending == nil {
		return nil
	}
	return c.options.Sending(n)
}

// Roots are the certificates the client believes, nil for the system's.
func (c *Client) Roots() (*x509.CertPool, error) { return c.options.Roots, c.broken }

func proxy(env func(string) (string, bool)) func(*http.Request) (*url.URL, error) {
	first := func(names ...string) string {
		for _, name := range names {
			if v, ok := env(name); ok && v != "" {
				return v
			}
		}
		return ""
	}
	choose := (&httpproxy.Config{
		HTTPProxy:  first("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: first("HTTPS_PROXY", "https_proxy"),
		NoProxy:    first("NO_PROXY", "no_proxy"),
	}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }
}

// LoadRoots reads a file of certificates in PEM form, believed beside the
// system's.
func LoadRoots(path string, read func(path string) ([]byte, error)) (*x509.CertPool, error) {
	pem, err := read(path)
	if err != nil {
		return nil, fault.Of(&fault.FileError{}, "cannot read the certificates: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fault.Hinted(fault.Of(&fault.FileError{}, "%s holds no certificate in PEM form", path),
			"such a file has lines -----BEGIN CERTIFICATE-----")
	}
	return roots, nil
}

// Parse reads an address a request can go to.
func Parse(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil: // its text may hold a password
		return nil, fault.Of(&fault.ParameterError{}, "the url is no address")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.Of(&fault.ParameterError{}, "the url must start with https:// or http://")
	case u.Hostname() == "":
		return nil, fault.Of(&fault.ParameterError{}, "the url names no host")
	}
	return u, nil
}

// HostPort is where u leads, as permissions name it.
func HostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// silence cancels ctx with a TimeoutError when alive was not called for d.
func silence(ctx context.Context, host string, d time.Duration) (_ context.Context, alive func(), stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if d <= 0 {
		return ctx, func() {}, func() { cancel(nil) }
	}
	timer := time.AfterFunc(d, func() {
		cancel(fault.Hinted(fault.Of(&fault.TimeoutError{}, "%s was silent for %s", host, d),
			"run again later, or allow more with timeout"))
	})
	return ctx, func() { timer.Reset(d) }, func() { timer.Stop(); cancel(nil) }
}
