package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"transect/client/fault"
)

const maxRedirects = 10

// exchange is one request on the wire, with the redirects it is led through.
type exchange struct {
	operation string
	method    string
	url       *url.URL
	header    http.Header
	body      func() (io.ReadCloser, error)
	size      int64
	sample    []byte // the body for the trace, when it is in memory
	signed    bool   // the address itself is a secret
	watched   bool   // it moves many bytes: it may not stall
	attempt   int
	started   time.Time
}

// lostExchange is an exchange without a complete answer.
type lostExchange struct {
	cause error
	sent  bool     // some of the request may have arrived
	at    *url.URL // where a redirect has led; nil when there was none
}

func (e *lostExchange) Error() string { return e.cause.Error() }
func (e *lostExchange) Unwrap() error { return e.cause }

// exchange sends a request and follows redirects. Beyond the platform's own
// origin nothing of the connection's travels along: no token, no referer.
func (t *Transport) exchange(ctx context.Context, x *exchange) (*answer, error) {
	for hop := 0; ; hop++ {
		a, err := t.hop(ctx, x)
		if err != nil {
			var lost *lostExchange
			if hop > 0 && errors.As(err, &lost) {
				lost.at = x.url
			}
			return nil, err
		}
		target, ok := redirection(a.Response)
		if !ok {
			return a, nil
		}
		t.traceAnswer(x, a, nil)
		_ = a.Body.Close()
		next, err := x.url.Parse(target)
		switch {
		case err != nil || next.Host == "" || next.Scheme != "http" && next.Scheme != "https":
			return nil, fault.Of(&fault.ConnectionError{}, "%s redirects to somewhere that is no address", x.url.Host)
		case hop >= maxRedirects:
			return nil, fault.Of(&fault.ConnectionError{}, "%s redirects in circles", x.url.Host)
		}
		if err := t.redirect(x, a.StatusCode, next); err != nil {
			return nil, err
		}
	}
}

// hop makes one request and gets the head of its answer.
func (t *Transport) hop(ctx context.Context, x *exchange) (*answer, error) {
	if err := t.mayReach(x); err != nil {
		return nil, err
	}
	x.started = time.Now()
	var connected atomic.Bool
	var dog *watchdog
	if !t.local {
		if x.watched {
			ctx, dog = t.watch(ctx, x.size)
			// A host may take its time to begin an answer that it has to make.
			dog.sleeping.Store(x.body == nil)
		}
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GotConn: func(i httptrace.GotConnInfo) {
				connected.Store(true)
				if dog != nil {
					dog.over(i.Conn)
				}
			},
		})
	}
	a, err := t.roundTrip(ctx, x)
	if dog == nil {
		return a, lostIn(err, t.local || connected.Load())
	}
	if err != nil {
		dog.end()
		if errors.Is(context.Cause(ctx), errStalled) {
			err = stalledError{dog.limit}
		}
		dog.breakOff(nil)
		return nil, lostIn(err, connected.Load())
	}
	a.Body = dog.body(a.Body)
	return a, nil
}

// mayReach asks whether this request may be made.
func (t *Transport) mayReach(x *exchange) error {
	if reach := t.options.Reach; reach != nil && !t.local {
		if err := reach(net.JoinHostPort(x.url.Hostname(), port(x.url))); err != nil {
			return err
		}
	}
	if sending := t.options.Sending; sending != nil && x.body != nil {
		return sending(x.size)
	}
	return nil
}

// lostIn marks an exchange that has no answer; errors of this side stay.
func lostIn(err error, sent bool) error {
	if err == nil || fault.Find(err) != nil {
		return err
	}
	return &lostExchange{cause: err, sent: sent}
}

// roundTrip makes one request as it is.
func (t *Transport) roundTrip(ctx context.Context, x *exchange) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, x.method, x.url.String(), nil)
	if err != nil {
		return nil, fault.Of(&fault.ParameterError{}, "this cannot be sent: %w", err)
	}
	r.Header = x.header
	if x.body != nil {
		if r.Body, err = x.body(); err != nil {
			if fault.Find(err) == nil {
				err = fault.Of(&fault.FileError{}, "cannot read what is to be sent: %w", err)
			}
			return nil, err
		}
		r.ContentLength, r.GetBody = x.size, x.body
	}
	resp, err := t.wire.RoundTrip(r)
	if err != nil {
		t.traceLost(x, err)
		return nil, err
	}
	resp.Request = r
	return &answer{Response: resp}, nil
}

func redirection(r *http.Response) (string, bool) {
	switch r.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		to := r.Header.Get("Location")
		return to, to != ""
	}
	return "", false
}

// redirect turns x to its next address. Only 303 changes the method: a service
// behind a moved address still wants the same request.
func (t *Transport) redirect(x *exchange, status int, next *url.URL) error {
	x.header = x.header.Clone()
	if status == http.StatusSeeOther && x.method != http.MethodHead {
		x.method, x.body, x.size, x.sample = http.MethodGet, nil, 0, nil
		x.header.Del("Content-Type")
	}
	from := x.url
	x.url = next
	if sameOrigin(from, next) || upgrades(from, next) {
		return nil
	}
	if x.method != http.MethodGet && x.method != http.MethodHead && !x.signed {
		// What a platform request holds is for the platform alone.
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the platform %s redirects to %s", from.Host, next.Host),
			"if that is the platform's new address, use it: %s://%s", next.Scheme, next.Host)
	}
	x.header.Del("Authorization")
	x.header.Del("Referer")
	x.header.Del("Content-Type")
	x.signed = true
	return nil
}

// final errors were settled on this side; asking again would not change them.
func final(err error) bool {
	var lost *lostExchange
	return !errors.As(err, &lost) || fault.Find(err) != nil
}
