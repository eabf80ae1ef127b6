package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"transect/client/fault"
)

// DefaultRedirects is how many redirects are followed unless a request says
// otherwise.
const DefaultRedirects = 10

// Request is one request. Credentials are headers, or userinfo in the URL.
type Request struct {
	Method    string // GET when empty
	URL       string
	Header    http.Header
	Body      func() (io.ReadCloser, error) // opened anew for each hop; nil sends none
	Size      int64                         // of the body; -1 when unknown
	Redirects int                           // how many to follow; DefaultRedirects when 0, none below
	Timeout   time.Duration                 // of silence, in any state; 0 is none
	Cookies   http.CookieJar                // sent, and kept; none when nil
}

// Response is an answer whose body is yet to be read. Close the body.
type Response struct {
	*http.Response
	URL    *url.URL // where the answer came from in the end
	parent context.Context
	stop   func()
}

// Do sends a request and follows redirects. Any status is an answer.
func (c *Client) Do(ctx context.Context, r *Request) (*Response, error) {
	at, err := Parse(r.URL)
	if err == nil {
		err = c.broken
	}
	if err != nil {
		return nil, err
	}
	h := &hop{method: r.Method, url: at, header: r.Header.Clone(), body: r.Body, size: r.Size, cookies: r.Cookies}
	if h.method == "" {
		h.method = http.MethodGet
	}
	if h.header == nil {
		h.header = http.Header{}
	}
	if h.header.Get("User-Agent") == "" {
		h.header.Set("User-Agent", c.options.UserAgent)
	}
	if user := at.User; user != nil && h.header.Get("Authorization") == "" {
		password, _ := user.Password()
		h.header.Set("Authorization", Basic(user.Username(), password))
	}
	most := r.Redirects
	if most == 0 {
		most = DefaultRedirects
	}
	for n := 0; ; n++ {
		answer, err := c.send(ctx, h, r.Timeout)
		if err != nil {
			return nil, err
		}
		to := redirection(answer)
		if to == "" || most < 0 {
			return answer, nil
		}
		answer.Close()
		if n >= most {
			return nil, fault.Of(&fault.ConnectionError{}, "%s redirects more than %d times", at.Host, most)
		}
		if err := h.follow(answer.StatusCode, to); err != nil {
			return nil, err
		}
	}
}

// hop is a request on its way.
type hop struct {
	method string
	url    *url.URL
	header http.Header
	body   func() (io.ReadCloser, error)
	size   int64

	cookies http.CookieJar
}

func (c *Client) send(ctx context.Context, h *hop, quiet time.Duration) (*Response, error) {
	if err := c.Permit(HostPort(h.url)); err != nil {
		return nil, err
	}
	if h.body != nil {
		if err := c.Sending(h.size); err != nil {
			return nil, err
		}
	}
	parent := ctx
	ctx, alive, stop := silence(ctx, h.url.Host, quiet)
	at := *h.url
	at.User, at.Fragment = nil, "" // sent as a header
	r, err := http.NewRequestWithContext(ctx, h.method, at.String(), nil)
	if err != nil {
		stop()
		return nil, fault.Of(&fault.ParameterError{}, "the method %q cannot be sent", h.method)
	}
	r.Header = h.header.Clone() // the last hop may still be read
	if host := h.header.Get("Host"); host != "" {
		r.Host = host
	}
	if h.cookies != nil {
		for _, cookie := range h.cookies.Cookies(&at) {
			r.AddCookie(cookie)
		}
	}
	if h.body != nil {
		body, err := h.body()
		if err != nil {
			stop()
			return nil, err
		}
		r.Body, r.ContentLength = watched{body, alive}, h.size
	}
	answer, err := c.wire.RoundTrip(r)
	if err != nil {
		err = failure(parent, ctx, h.url, err)
		stop()
		return nil, err
	}
	alive()
	if h.cookies != nil {
		h.cookies.SetCookies(&at, answer.Cookies())
	}
	answer.Body = watched{answer.Body, alive}
	return &Response{Response: answer, URL: h.url, parent: parent, stop: stop}, nil
}

// watched tells that bytes move.
type watched struct {
	io.ReadCloser
	alive func()
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.alive()
	}
	return n, err
}

func redirection(r *Response) string {
	switch r.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.Header.Get("Location")
	}
	return ""
}

// harmless headers travel to another origin; all others may be credentials.
var harmless = []string{"Accept", "Accept-Language", "User-Agent", "Range", "If-Modified-Since", "If-None-Match"}

// follow turns the request to where it is led.
func (h *hop) follow(status int, to string) error {
	next, err := h.url.Parse(to)
	if err != nil || next.Hostname() == "" || next.Scheme != "http" && next.Scheme != "https" {
		return fault.Of(&fault.ConnectionError{}, "%s redirects to somewhere that is no address", h.url.Host)
	}
	if h.url.Scheme == "https" && next.Scheme == "http" {
		return fault.Of(&fault.ConnectionError{}, "%s redirects from https to http, which is not followed", h.url.Host)
	}
	dropped := status == http.StatusSeeOther || status < http.StatusTemporaryRedirect && h.method == http.MethodPost
	if dropped && h.method != http.MethodHead {
		h.method, h.body, h.size = http.MethodGet, nil, 0
		h.header.Del("Content-Type")
	}
	if HostPort(h.url) != HostPort(next) {
		if h.body != nil {
			return fault.Hinted(fault.Of(&fault.ConnectionError{}, "%s redirects a %s to %s, another host", h.url.Host, h.method, next.Host),
				"what is sent is for the first host alone; if the other is right, use its address")
		}
		for name := range h.header {
			if !slices.Contains(harmless, name) {
				h.header.Del(name)
			}
		}
		next.User = nil
	}
	h.header.Del("Host")
	h.url = next
	return nil
}

// Close ends the exchange.
func (r *Response) Close() {
	_ = r.Body.Close()
	r.stop()
}

// Read reads the body up to limit bytes; a longer one is a LimitError.
func (r *Response) Read(limit int64) ([]byte, error) {
	defer r.Close()
	if r.ContentLength > limit {
		return nil, tooLong(r, limit)
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, r.Broken(err)
	}
	if int64(len(data)) > limit {
		return nil, tooLong(r, limit)
	}
	return data, nil
}

func tooLong(r *Response, limit int64) error {
	return fault.Hinted(fault.Of(&fault.LimitError{}, "the answer of %s is longer than %d bytes", r.URL.Host, limit),
		"write it to a file with target, or raise max_body")
}

// Broken is the error of a body that could not be read to its end.
func (r *Response) Broken(err error) error { return failure(r.parent, r.Request.Context(), r.URL, err) }

// Failed is the error for a status outside 200-299, or nil. Its data is body.
func (r *Response) Failed(body []byte) error {
	if r.StatusCode >= 200 && r.StatusCode < 300 {
		return nil
	}
	f := &fault.ResponseError{Status: r.StatusCode}
	f.Message = strings.TrimSpace(fmt.Sprintf("%s answered with status %d %s", r.URL.Host, r.StatusCode, http.StatusText(r.StatusCode)))
	f.Hint = statusHint(r.StatusCode)
	if len(body) > 0 {
		f.Data = string(body)
	}
	return f
}

func statusHint(status int) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "check the credentials"
	case status == http.StatusNotFound || status == http.StatusGone:
		return "check the address"
	case status == http.StatusTooManyRequests || status >= 500:
		return "run again later"
	}
	return ""
}
