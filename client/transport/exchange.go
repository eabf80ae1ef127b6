package transport

import (
	"context"
	"net/http"
	"net/url"

	"transect/client/fault"
	"transect/client/transport/httpcore"
)

const maxRedirects = 10

// exchange is one attempt of a request, with the data for its trace.
type exchange struct {
	httpcore.Request
	operation string
	sample    []byte // the body, when it is in memory
	signed    bool   // the address itself is a secret
	attempt   int
	over      bool // answered by Options.Over
}

// exchange sends a request and follows redirects.
func (t *Transport) exchange(ctx context.Context, x *exchange) (*answer, error) {
	x.Redirects, x.Redirect = maxRedirects, func(status int, next *url.URL) error { return t.redirect(x, status, next) }
	x.Observe = func(r *http.Response, err error) {
		var a *answer
		if r != nil {
			a = &answer{Response: r}
		}
		t.trace(x, a, err)
	}
	core := t.core
	if x.over {
		core = t.over
	}
	r, err := core.Do(ctx, &x.Request)
	if err != nil {
		return nil, err
	}
	return &answer{Response: r}, nil
}

// redirect prepares x for its next address. Nothing of the connection is sent beyond the platform's origin:
// no token, no referer. Only 303 changes the method: a service behind a moved address still expects the same
// request.
func (t *Transport) redirect(x *exchange, status int, next *url.URL) error {
	x.Header = x.Header.Clone()
	if status == http.StatusSeeOther && x.Method != http.MethodHead {
		x.Method, x.Body, x.Size, x.sample = http.MethodGet, nil, 0, nil
		x.Header.Del("Content-Type")
	}
	if httpcore.SameOrigin(x.URL, next) || httpcore.Upgrades(x.URL, next) {
		return nil
	}
	if x.Method != http.MethodGet && x.Method != http.MethodHead && !x.signed {
		// The content of a platform request is for the platform only.
		if status != http.StatusMovedPermanently && status != http.StatusPermanentRedirect {
			return t.foreign() // networks that require a login use temporary redirects
		}
		return fault.Hinted(fault.Of(&fault.ConfigError{}, "the platform %s redirects to %s", x.URL.Host, next.Host),
			"if that is the platform's new address, use it: %s://%s", next.Scheme, next.Host)
	}
	x.Header.Del("Authorization")
	x.Header.Del("Referer")
	x.Header.Del("Content-Type")
	x.signed = true
	return nil
}
