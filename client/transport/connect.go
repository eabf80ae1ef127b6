package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"

	"transect/client/fault"
)

const (
	// Nobody waits for longer than this for a connection that is going to come.
	longestConnect = 30 * time.Second
	// Shorter than what servers and load balancers commonly allow, so that a
	// creation rarely meets a connection that is just being closed.
	idleConnections = 30 * time.Second
	// As many as a busy ingest has in flight, unless more are allowed.
	idleConnectionsPerHost = 64
)

// dialTransport makes the connections. HTTP/1.1 is chosen on purpose: uploads in
// parallel want connections of their own, and each then has its own time limit.
func dialTransport(o Options) (*http.Transport, error) {
	proxy, err := proxyFor(o)
	if err != nil {
		return nil, err
	}
	trust, err := trustFor(o)
	if err != nil {
		return nil, err
	}
	idle := max(idleConnectionsPerHost, o.Connections)
	dialer := &net.Dialer{Timeout: min(o.Timeout, longestConnect), KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:           proxy,
		TLSClientConfig: trust,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &limitedConn{Conn: c, silence: o.Timeout}, nil
		},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
			if r.StatusCode != http.StatusOK {
				return &proxyRefusal{status: r.StatusCode}
			}
			return nil
		},
		TLSHandshakeTimeout:    min(o.Timeout, longestConnect),
		IdleConnTimeout:        idleConnections,
		MaxIdleConns:           4 * idle,
		MaxIdleConnsPerHost:    idle,
		MaxResponseHeaderBytes: 1 << 20,
	}, nil
}

// proxyFor picks the proxy. One that was given is used for every host; the
// environment's follow its own rules (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).
func proxyFor(o Options) (func(*http.Request) (*url.URL, error), error) {
	if o.Proxy != "" {
		u, err := url.Parse(o.Proxy)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "the proxy address %q is not one", Redact(o.Proxy)),
				"give it like http://proxy.example.com:3128")
		}
		return http.ProxyURL(u), nil
	}
	env := func(names ...string) string {
		for _, name := range names {
			if v, ok := o.Env(name); ok && v != "" {
				return v
			}
		}
		return ""
	}
	settings := httpproxy.Config{
		HTTPProxy:  env("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: env("HTTPS_PROXY", "https_proxy"),
		NoProxy:    env("NO_PROXY", "no_proxy"),
	}
	choose := settings.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }, nil
}

// trustFor says which certificates are believed.
func trustFor(o Options) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: o.InsecureTLS}
	if o.CACert == "" {
		return c, nil
	}
	pem, err := os.ReadFile(o.CACert)
	if err != nil {
		return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot read the certificate file: %w", err),
			"check --ca-cert")
	}
	if c.RootCAs, err = x509.SystemCertPool(); err != nil {
		c.RootCAs = x509.NewCertPool()
	}
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "%s holds no certificate in PEM form", o.CACert),
			"such a file has lines -----BEGIN CERTIFICATE-----")
	}
	return c, nil
}

// limitedConn breaks a connection on which nothing moved for too long, in
// whatever state it is: sending, waiting for the answer, or in its middle.
type limitedConn struct {
	net.Conn
	silence time.Duration
	moved   atomic.Int64 // bytes, both ways
}

// alive starts the time limit over. Both ways: the pending read started before
// this request and must outlive it.
func (c *limitedConn) alive() error { return c.SetDeadline(time.Now().Add(c.silence)) }

func (c *limitedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	c.moved.Add(int64(n))
	return n, err
}

func (c *limitedConn) Write(p []byte) (int, error) {
	if err := c.alive(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	c.moved.Add(int64(n))
	return n, err
}

// proxyRefusal is a proxy that does not let a connection through.
type proxyRefusal struct{ status int }

func (e *proxyRefusal) Error() string {
	return fmt.Sprintf("the proxy answered %d %s", e.status, http.StatusText(e.status))
}
