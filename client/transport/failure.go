package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"transect/client/fault"
)

// interrupted is the error of a call whose context ended: the context's own
// cause when that is a fault.
func (t *Transport) interrupted(ctx context.Context, operation string, err error) error {
	cause := context.Cause(ctx)
	if f := fault.Find(cause); f != nil {
		return cause
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || cause == nil && errors.Is(err, context.DeadlineExceeded) {
		return fault.In(operation, fault.Of(&fault.TimeoutError{}, "the time given for this has passed"))
	}
	f := fault.Of(&fault.CancelledError{}, "stopped")
	if cause != nil && !errors.Is(cause, context.Canceled) {
		f.Cause = cause
	}
	return fault.In(operation, f)
}

// broken is the error of an exchange without an answer. uncertain says that the
// request may nevertheless have been processed.
func (t *Transport) broken(ctx context.Context, operation string, u *url.URL, err error, uncertain bool) error {
	if ctx.Err() != nil {
		return t.interrupted(ctx, operation, err)
	}
	if fault.Find(err) != nil {
		return fault.In(operation, err)
	}
	var f fault.Fault
	hint := "check the network and run again"
	var dns *net.DNSError
	var refused *proxyRefusal
	var op *net.OpError
	switch {
	case errors.As(err, &refused), errors.As(err, &op) && op.Op == "proxyconnect":
		f, hint = &fault.ConnectionError{}, "check the proxy: --proxy, HTTPS_PROXY, HTTP_PROXY, NO_PROXY"
	case isTrustError(err):
		f, hint = &fault.ConnectionError{}, trustHint(err)
	case isTimeout(err):
		f = &fault.TimeoutError{}
	case errors.As(err, &dns):
		f, hint = &fault.ConnectionError{}, "check the address (--url, TRANSECT_URL) and the network"
	case neverConnected(err):
		f, hint = &fault.ConnectionError{}, "check the address (--url, TRANSECT_URL), and that the platform runs"
	default:
		f = &fault.ConnectionError{}
	}
	if uncertain {
		hint = "it may have been processed: look before doing it again"
	}
	verb := "the connection to %s broke"
	if neverConnected(err) || refused != nil {
		verb = "cannot reach %s"
	} else if isTimeout(err) {
		verb = "%s is silent"
	}
	host := u.Host
	var lost *lostExchange
	if errors.As(err, &lost) && lost.at != nil && lost.at.Host != u.Host {
		host = lost.at.Host + ", where " + u.Host + " sends this on to"
		if !uncertain && refused == nil {
			hint = "check the network, and that this host may be reached from here"
		}
	}
	*f.Facts() = fault.Info{Message: fmt.Sprintf(verb, host), Operation: operation, Hint: hint,
		Cause: errors.New(t.Redact(reason(err)))}
	return f
}

// reason is the innermost useful text of a network error.
func reason(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return fmt.Sprintf("%s: %s", dns.Name, dns.Err)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		if op.Op == "proxyconnect" {
			return "proxy: " + reason(op.Err)
		}
		return op.Err.Error()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ended before the answer was complete"
	}
	return err.Error()
}

func trustHint(err error) string {
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return "the host does not speak TLS there; does its address start with http://?"
	}
	return "if the platform uses a certificate of its own, name the file that vouches for it with --ca-cert"
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// webPage is the error for a host that is not a platform.
func (t *Transport) webPage(operation string) error {
	return fault.In(operation, fault.Hinted(
		fault.Of(&fault.ConfigError{}, "%s answered with a web page instead of data", t.base.Host),
		"is %s the platform's address? check --url or TRANSECT_URL, and whether the network wants a login first", t.base))
}

// isPage tells a web page from data and from files that only look similar.
func isPage(h http.Header, body []byte) bool {
	start := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(body[:min(len(body), 512)], []byte("\xef\xbb\xbf"))))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) ||
		strings.HasPrefix(h.Get("Content-Type"), "text/html") && bytes.HasPrefix(start, []byte("<"))
}

// refusal is the error of an answer outside 200-299. A page instead of data
// from a host that never answered otherwise means: this is no platform.
func (t *Transport) refusal(c call, a *answer, known bool) error {
	if !known && !fromGateway(a.StatusCode) && isPage(a.Header, a.body) {
		return t.webPage(c.Operation)
	}
	text := t.Redact(string(a.body))
	f := &fault.ResponseError{Status: a.StatusCode, Data: text}
	f.Operation = c.Operation
	f.Hint = t.statusHint(c, a)
	status := fmt.Sprintf("status %d %s", a.StatusCode, http.StatusText(a.StatusCode))
	var data any
	if json.Unmarshal([]byte(text), &data) == nil {
		f.Data = data
	}
	if body, ok := data.(map[string]any); ok {
		f.Service, _ = body["service"].(string)
		f.Code, _ = body["code"].(string)
		f.Details = body["details"]
		f.Message = firstText(body, "message", "error_description", "error")
	}
	if f.Message == "" {
		f.Message = "the platform answered with " + strings.TrimSpace(status)
		if plain := strings.TrimSpace(text); data == nil && plain != "" && len(plain) <= 200 && !isPage(a.Header, a.body) {
			f.Cause = errors.New(plain)
		}
		return f
	}
	if f.Code != "" {
		status += ", " + f.Code
	}
	f.Cause = errors.New(strings.TrimSpace(status))
	return f
}

// fromGateway tells statuses that a server in between gives, with a page of
// its own, when the platform behind it does not answer.
func fromGateway(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func firstText(body map[string]any, names ...string) string {
	for _, n := range names {
		if s, ok := body[n].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

func (t *Transport) statusHint(c call, a *answer) string {
	switch s := a.StatusCode; {
	case s == http.StatusBadRequest || s == http.StatusUnprocessableEntity:
		return "the platform takes the request for malformed: compare its arguments with what the message names"
	case s == http.StatusUnauthorized:
		return "the platform does not accept the token, although it was just issued; check with its administrator"
	case s == http.StatusForbidden:
		return fmt.Sprintf("%s may not do this; ask for the right, or use other credentials", t.options.Credentials.who())
	case s == http.StatusNotFound:
		if t.local {
			return "check the identifier, and that it is of the local platform"
		}
		return fmt.Sprintf("check the identifier, and that it belongs to %s", t.base.Host)
	case s == http.StatusProxyAuthRequired:
		return "the proxy wants a user: --proxy http://user:password@host:port"
	case s == http.StatusConflict:
		return "something of the kind exists already, or is in a state that does not allow this; look it up first"
	case s == http.StatusRequestEntityTooLarge:
		return "it is too large for the platform: send less at once"
	case s == http.StatusTooManyRequests:
		return "the platform asks for patience: run again later, or with fewer workers"
	case s == http.StatusInsufficientStorage:
		return "make room where the platform keeps its data, and run again"
	case s >= 500 && !c.Repeatable:
		return "a fault of the platform, and it may have been processed: look before doing it again"
	case s >= 500:
		return "a fault of the platform: run again later"
	}
	return fmt.Sprintf("is %s the platform's address, and does the platform know this operation?", t.base)
}
