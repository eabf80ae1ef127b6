package httpcore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"

	"transect/client/fault"
)

const (
	connectTimeout = 30 * time.Second
	// idleTimeout is shorter than what servers and load balancers commonly allow, so that a creation rarely
	// hits a connection that is just being closed.
	idleTimeout = 30 * time.Second
)

// dial returns a transport for network connections. HTTP/1.1 is the default on purpose: parallel uploads need
// separate connections, each with its own time limit.
func dial(o Options) (*http.Transport, error) {
	proxy, err := proxyOf(o)
	if err != nil {
		return nil, err
	}
	timeout := connectTimeout
	if o.Silence > 0 {
		timeout = min(o.Silence, timeout)
	}
	connect := o.Dial
	if connect == nil {
		connect = (&net.Dialer{Timeout: timeout, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Transport{
		Proxy:             proxy,
		TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots, InsecureSkipVerify: o.InsecureTLS},
		ForceAttemptHTTP2: o.HTTP2,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := connect(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &limitedConn{Conn: c, silence: o.Silence, writing: o.Writing}, nil
		},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
			if r.StatusCode != http.StatusOK {
				return &ProxyRefusal{Status: r.StatusCode}
			}
			return nil
		},
		TLSHandshakeTimeout:    timeout,
		IdleConnTimeout:        idleTimeout,
		MaxIdleConns:           4 * o.Connections,
		MaxIdleConnsPerHost:    o.Connections,
		MaxResponseHeaderBytes: 1 << 20,
	}, nil
}

// proxyOf returns the proxy function: the given proxy for every host, else by the environment (HTTPS_PROXY,
// HTTP_PROXY, NO_PROXY).
func proxyOf(o Options) (func(*http.Request) (*url.URL, error), error) {
	if o.Proxy != "" {
		u, err := url.Parse(o.Proxy)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "the proxy address is not valid"),
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
	choose := (&httpproxy.Config{
		HTTPProxy:  env("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: env("HTTPS_PROXY", "https_proxy"),
		NoProxy:    env("NO_PROXY", "no_proxy"),
	}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return choose(r.URL) }, nil
}

// LoadRoots reads a PEM file of certificates to trust in addition to the system's.
func LoadRoots(path string, read func(path string) ([]byte, error)) (*x509.CertPool, error) {
	pem, err := read(path)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New(path + " holds no certificate in PEM form (lines -----BEGIN CERTIFICATE-----)")
	}
	return roots, nil
}

// limitedConn closes a connection that transfers nothing for too long, in
// whatever state it is: sending, waiting for the answer, or receiving it.
type limitedConn struct {
	net.Conn
	silence        time.Duration // 0 for no limit
	writing        func() error  // called before each write; nil for none
	sent, received atomic.Int64  // bytes
}

// alive restarts the time limit, in both directions: the pending read began before this request and must
// outlive it.
func (c *limitedConn) alive() error {
	if c.silence == 0 {
		return nil
	}
	return c.SetDeadline(time.Now().Add(c.silence))
}

func (c *limitedConn) Read(p []byte) (int, error) {
	if c.silence > 0 {
		if err := c.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

func (c *limitedConn) Write(p []byte) (int, error) {
	if c.writing != nil {
		if err := c.writing(); err != nil {
			return 0, err
		}
	}
	if err := c.alive(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// buffers holds buffers for bodies on their way to a connection.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// inMemory is a body that is sent directly from memory.
type inMemory interface {
	io.WriterTo
	Len() int
}

// ReadFrom sends a body through a pooled buffer: net/http allocates one per request.
func (c *limitedConn) ReadFrom(body io.Reader) (int64, error) {
	if l, ok := body.(*io.LimitedReader); ok { // a body of known length, as net/http passes it
		if b, ok := l.R.(inMemory); ok && int64(b.Len()) == l.N {
			return b.WriteTo(c)
		}
	}
	buffer := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buffer)
	return io.CopyBuffer(struct{ io.Writer }{c}, body, buffer[:])
}

// ProxyRefusal means that a proxy refuses a connection.
type ProxyRefusal struct{ Status int }

func (e *ProxyRefusal) Error() string {
	return fmt.Sprintf("the proxy answered %d %s", e.Status, http.StatusText(e.Status))
}
