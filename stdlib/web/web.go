// Package web sends requests to hosts other than the platform: for the module http, notifications and
// monitors. httpcore does the work; this package adds the policy for arbitrary hosts: credentials stay with
// their origin, bodies do not follow a redirect to another host, errors contain only the host of an address,
// which may be secret.
//
// Begin reading at Client.Do.
package web

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"transect/client/fault"
	"transect/client/transport/httpcore"
)

// DefaultRedirects limits redirects unless a request has its own limit.
const DefaultRedirects = 10

// Options configure a client. Zero values are valid.
type Options struct {
	// Env looks up HTTPS_PROXY, HTTP_PROXY and NO_PROXY; the process's environment when nil.
	Env func(name string) (string, bool)
	// Permit is called with host:port before connecting to a host, including redirects. Everything is allowed
	// when nil.
	Permit func(hostport string) error
	// Sending is called with the size of a body before it is sent.
	Sending func(n int64) error
	// Roots are the trusted certificates; when nil, the system's and the ones in the file SSL_CERT_FILE of
	// Env.
	Roots *x509.CertPool
	// UserAgent names the program.
	UserAgent string
}

// Client sends requests and keeps connections: Close it. It is safe for
// concurrent use.
type Client struct {
	Options
	core   *httpcore.Core
	broken error // an error in the settings
}

// New returns a client.
func New(o Options) *Client {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Permit == nil {
		o.Permit = func(string) error { return nil }
	}
	if o.Sending == nil {
		o.Sending = func(int64) error { return nil }
	}
	o.UserAgent = cmp.Or(o.UserAgent, "transect")
	c := &Client{Options: o}
	if file, ok := o.Env("SSL_CERT_FILE"); ok && file != "" && o.Roots == nil {
		c.Roots, c.broken = LoadRoots(file, os.ReadFile)
	}
	// It cannot fail without an explicit proxy.
	c.core, _ = httpcore.New(httpcore.Options{Env: o.Env, Roots: c.Roots, HTTP2: true, Connections: 16,
		Reach: o.Permit, Sending: o.Sending})
	return c
}

// Close closes idle connections.
func (c *Client) Close() { c.core.Close() }

// Trusted returns the certificates the client trusts, nil for the system's.
func (c *Client) Trusted() (*x509.CertPool, error) { return c.Roots, c.broken }

// LoadRoots reads a PEM file of certificates to trust in addition to the system's.
func LoadRoots(path string, read func(path string) ([]byte, error)) (*x509.CertPool, error) {
	roots, err := httpcore.LoadRoots(path, read)
	if err != nil && fault.Find(err) == nil {
		err = fault.Of(&fault.FileError{}, "cannot read the certificates: %w", err)
	}
	return roots, err
}

// Parse parses the address of a request.
func Parse(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil: // its text may hold a password
		return nil, fault.Of(&fault.ParameterError{}, "the url is not an address")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fault.Of(&fault.ParameterError{}, "the url must start with https:// or http://")
	case u.Hostname() == "":
		return nil, fault.Of(&fault.ParameterError{}, "the url has no host")
	}
	return u, nil
}

// Basic returns the Authorization header for a user and password.
func Basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// Response is a response whose body has not been read. Close it.
type Response struct {
	*http.Response
	URL *url.URL // the final address
	ctx context.Context
}

// Do sends a request, to an address from Parse, and follows redirects: by default DefaultRedirects. Any
// status is a response. Credentials are headers, or userinfo in the URL.
func (c *Client) Do(ctx context.Context, r *httpcore.Request) (*Response, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	at := *r.URL
	r.URL, r.Header = &at, r.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", c.UserAgent)
	}
	if user := at.User; user != nil && r.Header.Get("Authorization") == "" {
		password, _ := user.Password()
		r.Header.Set("Authorization", Basic(user.Username(), password))
	}
	at.User, at.Fragment = nil, ""
	r.Method, r.Redirects = cmp.Or(r.Method, http.MethodGet), cmp.Or(r.Redirects, DefaultRedirects)
	r.Redirect = func(status int, next *url.URL) error { return redirect(r, status, next) }
	answer, err := c.core.Do(ctx, r)
	if err != nil {
		return nil, failure(ctx, r.URL, err)
	}
	return &Response{Response: answer, URL: r.URL, ctx: ctx}, nil
}

// harmless lists the headers that may be sent to another origin; all others may be credentials.
var harmless = []string{"Accept", "Accept-Language", "User-Agent", "Range", "If-Modified-Since", "If-None-Match"}

// redirect prepares a request for its next address, or refuses to follow.
func redirect(r *httpcore.Request, status int, next *url.URL) error {
	if r.URL.Scheme == "https" && next.Scheme == "http" {
		return fault.Of(&fault.ConnectionError{}, "%s redirects from https to http, which is not followed", r.URL.Host)
	}
	r.Header = r.Header.Clone()
	if (status == http.StatusSeeOther || status < http.StatusTemporaryRedirect && r.Method == http.MethodPost) &&
		r.Method != http.MethodHead {
		r.Method, r.Body, r.Size = http.MethodGet, nil, 0
		r.Header.Del("Content-Type")
	}
	if httpcore.HostPort(r.URL) != httpcore.HostPort(next) {
		if r.Body != nil {
			return fault.Hinted(fault.Of(&fault.ConnectionError{}, "%s redirects a %s to %s, another host", r.URL.Host, r.Method,
				next.Host),
				"what is sent is for the first host alone; if the other is right, use its address")
		}
		for name := range r.Header {
			if !slices.Contains(harmless, name) {
				r.Header.Del(name)
			}
		}
	}
	next.User = nil
	r.Header.Del("Host")
	return nil
}

// Close closes the body.
func (r *Response) Close() { _ = r.Body.Close() }

// Copy reads the body up to limit bytes; a longer one is a LimitError.
func (r *Response) Copy(w io.Writer, limit int64) error {
	defer r.Close()
	n, err := io.Copy(w, io.LimitReader(r.Body, limit+1))
	if err != nil {
		return r.Broken(err)
	}
	if n > limit || r.ContentLength > limit {
		return fault.Hinted(fault.Of(&fault.LimitError{}, "the answer of %s is longer than %d bytes", r.URL.Host, limit),
			"write it to a file with target, or raise max_body")
	}
	return nil
}

// Broken returns the error for a body that could not be read to its end.
func (r *Response) Broken(err error) error { return failure(r.ctx, r.URL, err) }

// failure returns the error for an exchange without a complete response.
func failure(ctx context.Context, u *url.URL, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case fault.Find(err) != nil:
		return err
	}
	return httpcore.Failure(u.Host, err, httpcore.Names{Proxy: "HTTPS_PROXY, HTTP_PROXY, NO_PROXY", CACert: "ca_cert"})
}

// Failed returns the error for a status outside 200-299, or nil. Its data is body as JSON, or else its text.
func (r *Response) Failed(body []byte) error {
	if r.StatusCode >= 200 && r.StatusCode < 300 {
		return nil
	}
	f := &fault.ResponseError{Status: r.StatusCode}
	f.Message = strings.TrimSpace(fmt.Sprintf("%s answered with status %d %s", r.URL.Host, r.StatusCode,
		http.StatusText(r.StatusCode)))
	switch {
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		f.Hint = "check the credentials"
	case r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusGone:
		f.Hint = "check the address"
	case fault.Transient(f):
		f.Hint = "run again later"
	}
	if _ = json.Unmarshal(body, &f.Data); f.Data == nil && len(body) > 0 {
		f.Data = string(body)
	}
	return f
}
