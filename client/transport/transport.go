// Package transport is everything between an operation and the HTTP core (httpcore): addresses, tokens, headers,
// retries, rate limits, tracing with secrets removed, and the translation of failures into faults. It is independent
// of operations.
//
// client passes a Request (Do, Stream) or a signed storage address (Storage); httpcore connects to the
// network. One Transport serves any number of goroutines, which share its connections, its token (renewed
// once for all) and the pace each host allows.
//
// Begin reading at Transport.send: token, pacer, one attempt, verdict, backoff.
package transport

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/transport/httpcore"
	"transect/client/wait"
)

const (
	defaultTimeout = 10 * time.Minute
	defaultStall   = time.Minute
	defaultRetries = 10
	// minIdleConnections is the number of connections that a busy ingest uses.
	minIdleConnections = 64
)

// Credentials identify the caller. User and Password take precedence over the client pair, which then only
// identifies the program; an AccessToken is used until it expires, and renewed if the rest allows it.
type Credentials struct {
	User, Password         string
	ClientID, ClientSecret string
	AccessToken            string
	Scope                  string
	Mixed                  string // which parts come from where, when the login has several sources
}

// Options configure a Transport. Only BaseURL and some Credentials are needed.
type Options struct {
	BaseURL     string        // the platform's address, path kept: https://host[:port][/path]
	Proxy       string        // proxy for every request; wins over the environment
	CACert      string        // PEM file of further trusted certificates
	InsecureTLS bool          // do not verify certificates; warned about
	Timeout     time.Duration // longest silence on a connection; 10 minutes when 0, MaxOutage when that is less
	MaxRetries  int           // repeats of one request; 10 when 0, none when negative
	// how long requests are repeated while the network or the platform is away; 5 minutes when 0, unless MaxRetries
	// counts them; not at all when negative
	MaxOutage   time.Duration
	UserAgent   []string // extra products, the last given comes first
	Version     string   // version of the product, "dev" when empty
	Credentials Credentials
	Logger      *slog.Logger                     // nothing is logged when nil
	Trace       func(TraceRecord)                // called with each exchange, redacted
	Env         func(name string) (string, bool) // environment; os.LookupEnv when nil

	// RoundTripper answers every request in-process when set. Proxy and TLS settings have no effect then.
	RoundTripper http.RoundTripper
	// Wrap wraps the transport that sends requests to the network. Optional.
	Wrap func(base string, below http.RoundTripper) (http.RoundTripper, error)
	// Dial connects to hosts; over the network when nil.
	Dial httpcore.Dial
	// Over returns a layer that answers in place of the platform at base. Its requests to below are treated
	// like all requests of this transport. Optional.
	Over func(base string, below http.RoundTripper) (http.RoundTripper, error)

	// Stall is the longest time without progress while bytes are sent or received; a minute when 0, MaxOutage
	// when that is less.
	Stall       time.Duration
	Rate        float64 // requests a second; 0 is no limit
	Connections int     // how many are kept open to one host; 64 at least

	// Reach is called with host:port before anything is sent there, including storage and redirects; Sending
	// with the size of each body. Optional.
	Reach   func(hostport string) error
	Sending func(n int64) error
	Writing func() error // called before each write to a connection, and may wait; optional

	// Busy is called when a host requests fewer requests (429, 503).
	Busy func()

	// Sleep waits between repeats; a test may replace it.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Request is one call of a platform route.
type Request struct {
	Operation string // named in errors, such as "projects.create"
	// Repeatable means that doing it twice is the same as doing it once. Such a request is repeated after any
	// transport error, 429 and 5xx; any other only when it was certainly not processed: no connection was
	// made, or the platform answered 429, or 503 with Retry-After.
	Repeatable bool
	GiveUp     func(err error, n int) bool // stops the repeats after attempt n when true; optional
	Method     string                      // POST when empty
	Path       string                      // "/project-manager/projects"
	Query      url.Values
	Body       []byte // JSON, unless ContentType says otherwise
	Bound      int64  // most bytes of the answer, inflated; standardBound when 0

	// Buffer receives the answer; the caller may reuse it after it is done with the answer. A new one is used
	// when nil.
	Buffer *bytes.Buffer

	// BodyReader opens a body of Size bytes that is not held in memory; it is
	// called once per attempt. Its ContentType is application/octet-stream
	// unless given.
	BodyReader  func() (io.ReadCloser, error)
	Confirmed   func(n int64) // called from time to time with the bytes that have arrived; optional
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

// Transport sends requests to one platform.
type Transport struct {
	options Options
	base    *url.URL
	core    *httpcore.Core
	over    *httpcore.Core // layer over the platform; nil for none
	local   bool           // answered in-process
	ahead   atomic.Int64   // the platform's clock before this one's, in nanoseconds, by its last answer
	agent   string
	log     *slog.Logger
	secrets redactor
	tokens  tokens
	rate    *rate.Limiter
	outages outages
	silent  time.Duration // silentAnswer

	mu      sync.Mutex
	pacers  map[string]*pacer // by host and port
	noticed time.Time         // when Waiting was last shown
	shown   int               // the highest retry shown in this outage
}

// New returns a transport. It sends nothing. Invalid options are a *fault.ConfigError.
func New(o Options) (*Transport, error) {
	base, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := o.Credentials.check(); err != nil {
		return nil, err
	}
	outages := outagesOf(o)
	o = withDefaults(o)
	t := &Transport{
		options: o, outages: outages, silent: silentAnswer, base: base, local: o.RoundTripper != nil,
		agent: userAgent(o), log: o.Logger, pacers: map[string]*pacer{}, rate: requestRate(o.Rate),
	}
	t.secrets.keepCredentials(o.Credentials)
	t.tokens.start(o.Credentials, t.fetchToken)
	if t.core, err = connect(o, t.unresponsive, t.unanswered); err == nil {
		err = t.addOverlay()
	}
	if err != nil || t.local {
		return t, err
	}
	if o.InsecureTLS {
		t.log.Warn("certificates are not verified: anyone on the way can read and change the traffic",
			"setting", "connection.disable_ssl_certificate")
	}
	if base.Scheme == "http" && !isLoopback(base.Hostname()) {
		t.log.Warn("credentials travel unencrypted: the platform address starts with http://", "host", base.Host)
	}
	return t, nil
}

func withDefaults(o Options) Options {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Stall <= 0 {
		o.Stall = defaultStall
	}
	if o.MaxOutage > 0 {
		o.Timeout, o.Stall = min(o.Timeout, o.MaxOutage), min(o.Stall, o.MaxOutage)
	}
	if o.MaxRetries == 0 {
		o.MaxRetries = defaultRetries
	}
	o.MaxRetries = max(o.MaxRetries, 0)
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Sleep == nil {
		o.Sleep = wait.Sleep
	}
	return o
}

// BaseURL returns the platform's address as it is used, without a final slash.
func (t *Transport) BaseURL() string { return t.base.String() }

// MaxRetries returns how often a request is repeated after failures other than an outage.
func (t *Transport) MaxRetries() int { return t.options.MaxRetries }

// Local reports whether the platform is in this process.
func (t *Transport) Local() bool { return t.local }

// PlatformTime returns the time by the platform's clock, derived from its answers, at most a second late.
func (t *Transport) PlatformTime() time.Time { return time.Now().Add(time.Duration(t.ahead.Load())) }

// Redact removes this connection's secrets, and possible ones, from text.
func (t *Transport) Redact(text string) string { return t.secrets.text(text) }

// Close drops idle connections.
func (t *Transport) Close() { t.core.Close() }

// Do sends a request and reads the whole answer. Statuses outside 200-299 are
// a *fault.ResponseError.
func (t *Transport) Do(ctx context.Context, r Request) (Response, error) {
	a, err := t.send(ctx, call{Request: r})
	if err != nil {
		return Response{}, err
	}
	return Response{Status: a.StatusCode, Header: a.Header, Body: a.body}, nil
}

// Stream sends a request and leaves the answer's body open for the caller. Statuses from 400 are a
// *fault.ResponseError. The time limit also applies to the body.
func (t *Transport) Stream(ctx context.Context, r Request) (*http.Response, error) {
	a, err := t.send(ctx, call{Request: r, stream: true})
	if err != nil {
		return nil, err
	}
	return a.Response, nil
}

// Storage sends one request to a signed address, without token and without retries. Any status is returned as
// an answer; the error is for exchanges without one. Retrying is up to the caller, who can request a new
// address. confirmed, if not nil, is called from time to time with how much of the body has arrived.
func (t *Transport) Storage(ctx context.Context, method, address string, header http.Header,
	body func() (io.ReadCloser, error), size int64, confirmed func(int64)) (*http.Response, error) {
	u, err := t.base.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fault.Of(&fault.QueryError{}, "the platform returned an invalid storage address")
	}
	p := t.pacer(u)
	if err := t.paced(ctx, p); err != nil {
		return nil, t.interrupted(ctx, "")
	}
	x := &exchange{signed: true, attempt: 1, Request: httpcore.Request{Method: method, URL: u, Header: header.Clone(),
		Body: body, Size: size, Confirmed: confirmed}}
	if body == nil {
		x.Answer = t.options.Timeout
	}
	t.limit(x, p, true)
	if x.Header == nil {
		x.Header = http.Header{}
	}
	x.Header.Set("User-Agent", t.agent)
	if t.over != nil {
		own := *x
		x.over, ctx = true, context.WithValue(ctx, passingKey{}, passing{exchange: &own})
	}
	a, err := t.exchange(ctx, x)
	if err != nil {
		p.lost(time.Now(), t.outages.silence(err))
		return nil, t.broken(ctx, "", u, err, false)
	}
	t.trace(x, a, nil)
	v := judgeStatus(a.StatusCode, a.Header, true, time.Now())
	v.away = t.storageAway(a.StatusCode)
	t.answered(p, v)
	return a.Response, nil
}

// answered records what an answer implies about its host's load.
func (t *Transport) answered(p *pacer, v verdict) {
	if v.overloaded && v.retryAfter >= reportedWait && p.pause(time.Now()) == 0 {
		t.log.Info("the platform limits requests", "wait", v.retryAfter.Round(time.Second), "status", v.status)
	}
	away, hung := p.answered(v)
	if away > 0 {
		t.back(away)
	}
	if hung > 0 {
		t.log.Info("the platform answers again", "after", human.Duration(hung))
	}
	if v.overloaded && t.options.Busy != nil {
		t.options.Busy()
	}
}

// connect returns the HTTP core.
func connect(o Options, unresponsive, unanswered func(*url.URL, time.Duration)) (*httpcore.Core, error) {
	var roots *x509.CertPool
	if o.CACert != "" {
		var err error
		if roots, err = httpcore.LoadRoots(o.CACert, os.ReadFile); err != nil {
			return nil, fault.Hinted(fault.Of(&fault.ConfigError{}, "cannot read the certificate file: %w", err),
				"check --ca-cert")
		}
	}
	var wrap func(http.RoundTripper) (http.RoundTripper, error)
	if o.Wrap != nil {
		wrap = func(below http.RoundTripper) (http.RoundTripper, error) { return o.Wrap(o.BaseURL, below) }
	}
	return httpcore.New(httpcore.Options{Proxy: o.Proxy, Wrap: wrap, Env: o.Env, Roots: roots, InsecureTLS: o.InsecureTLS,
		Silence: o.Timeout, Dial: o.Dial,
		Connections: max(minIdleConnections, o.Connections), Local: o.RoundTripper, Reach: o.Reach, Sending: o.Sending,
		Writing:      o.Writing,
		Unresponsive: unresponsive, Unanswered: unanswered})
}

// pacer returns the pacer of a host.
func (t *Transport) pacer(u *url.URL) *pacer {
	key := httpcore.HostPort(u)
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pacers[key]
	if p == nil {
		p = &pacer{}
		t.pacers[key] = p
	}
	return p
}
