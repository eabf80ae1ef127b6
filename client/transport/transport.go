// Package transport is everything between an operation and the wire:
// addresses, tokens, headers, time limits, repeats, TLS and proxies, and the
// translation of whatever goes wrong into faults. It knows no operation.
//
// One Transport serves any number of goroutines. They share its connections,
// its token (renewed once for all of them) and the pace each host asks for.
package transport

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"
)

// Credentials say who asks. User and Password win over the client pair, which
// then only identifies the program; an AccessToken is used as it is until it
// expires, and renewed when the rest allows it.
type Credentials struct {
	User, Password         string
	ClientID, ClientSecret string
	AccessToken            string
	Scope                  string
}

// Options configure a Transport. Only BaseURL and some Credentials are needed.
type Options struct {
	BaseURL     string        // the platform's address, path kept: https://host[:port][/path]
	Proxy       string        // proxy for every request; wins over the environment
	CACert      string        // PEM file of further trusted certificates
	InsecureTLS bool          // do not verify certificates; warned about
	Timeout     time.Duration // longest silence on a connection; 10 minutes when 0
	MaxRetries  int           // repeats of one request; 10 when 0, none when negative
	UserAgent   []string      // extra products, the last given comes first
	Version     string        // version of the product, "dev" when empty
	Credentials Credentials
	Logger      *slog.Logger                     // nothing is logged when nil
	Trace       func(TraceRecord)                // called with each exchange, redacted
	Env         func(name string) (string, bool) // environment; os.LookupEnv when nil

	// RoundTripper answers every request in-process when set. Proxy and TLS
	// settings mean nothing then.
	RoundTripper http.RoundTripper

	// Sleep waits between repeats; a test may replace it.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Request is one call of a platform route.
type Request struct {
	Operation string // named in errors, such as "projects.create"
	// Repeatable says that doing it twice is as good as doing it once. Such a
	// request is repeated after any transport error, 429 and 5xx; any other
	// only when it was surely not processed: no connection was made, or the
	// platform answered 429, or 503 with Retry-After.
	Repeatable bool
	Method     string // POST when empty
	Path       string // "/project-manager/projects"
	Query      url.Values
	Body       []byte // JSON, unless ContentType says otherwise

	// BodyReader opens a body of Size bytes that is not held in memory; it is
	// called once per attempt. Its ContentType is application/octet-stream
	// unless given.
	BodyReader  func() (io.ReadCloser, error)
	Size        int64
	ContentType string
	Header      http.Header // further headers, such as Range
}

// Response is a complete answer with a status in 200-299.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}
