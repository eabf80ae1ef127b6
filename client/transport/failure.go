package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"transect/client/fault"
	"transect/client/transport/httpcore"
)

// interrupted returns the error of a call whose context ended.
func (t *Transport) interrupted(ctx context.Context, operation string) error {
	return fault.In(operation, fault.Stopped(ctx))
}

const maybeProcessed = "it may have been processed: check whether it was before repeating it"

// names are the names of the settings on the command line.
var names = httpcore.Names{Proxy: "--proxy, HTTPS_PROXY, HTTP_PROXY, NO_PROXY", Address: " (--url, TRANSECT_URL)",
	CACert: "--ca-cert"}

// broken returns the error of an exchange without an answer. uncertain means that the request may have been
// processed nevertheless.
func (t *Transport) broken(ctx context.Context, operation string, u *url.URL, err error, uncertain bool) error {
	if ctx.Err() != nil {
		err := fault.Stopped(ctx)
		if uncertain {
			err = fault.Doubtful(err, maybeProcessed)
		}
		return fault.In(operation, err)
	}
	if fault.Find(err) != nil {
		return fault.In(operation, err)
	}
	host, redirected := u.Host, false
	var lost *httpcore.Lost
	if errors.As(err, &lost) && lost.At != nil && lost.At.Host != u.Host {
		host, redirected = lost.At.Host+", where "+u.Host+" redirects to", true
	}
	f := httpcore.Failure(host, err, names)
	info := f.Facts()
	info.Operation, info.Cause = operation, errors.New(t.Redact(info.Cause.Error()))
	var refused *httpcore.ProxyRefusal
	switch {
	case uncertain:
		info.Uncertain = true
		info.Hint = maybeProcessed
	case redirected && !errors.As(err, &refused):
		info.Hint = "check the network, and that this host may be reached from here"
	}
	return f
}

// unusable returns the error for an answer that is not read, although the platform may
// have carried out the request.
func (c call) unusable(hint, format string, args ...any) error {
	f := fault.Hinted(fault.Of(&fault.QueryError{}, format, args...), "%s", hint)
	if !c.Repeatable {
		f.Uncertain, f.Hint = true, maybeProcessed
	}
	return f
}

// webPage returns the error for a host that is not a platform.
func (t *Transport) webPage(operation string) error {
	return fault.In(operation, fault.Hinted(
		fault.Of(&fault.ConfigError{}, "%s answered with a web page instead of data", t.base.Host),
		"is %s the platform's address? check --url or TRANSECT_URL, and whether the network requires a login first", t.base))
}

// intercepted returns the error for a web page, or a redirect to one, instead of the platform's answer: it
// comes from the network, a proxy, or maintenance.
func (t *Transport) intercepted(c call) error {
	f := t.foreign()
	if !c.Repeatable {
		f.Uncertain = true
		f.Hint = "it may have been done: check whether it was before repeating it; " + f.Hint
	}
	return fault.In(c.Operation, f)
}

func (t *Transport) foreign() *fault.ConnectionError {
	return fault.Hinted(
		fault.Of(&fault.ConnectionError{}, "the network answers in place of the platform %s: a web page instead of data",
			t.base.Host),
		"does the network require a login, is the platform under maintenance, or is the address wrong? open %s in a "+
			"browser, then run again", t.base)
}

// CheckPage returns an error when an answer of a storage is a web page.
func (t *Transport) CheckPage(h http.Header, body []byte) error {
	if isPage(h, body) {
		return t.foreign()
	}
	return nil
}

// isPage reports whether an answer is a web page, not data or a file that contains one.
func isPage(h http.Header, body []byte) bool {
	start := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(body[:min(len(body), 512)], []byte("\xef\xbb\xbf"))))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) ||
		strings.HasPrefix(h.Get("Content-Type"), "text/html") && bytes.HasPrefix(start, []byte("<"))
}

// refusal returns the error of an answer outside 200-299. A page instead of data from a host that never
// answered otherwise means that it is not a platform.
func (t *Transport) refusal(c call, a *answer, v verdict, reached bool) error {
	if !reached && !fromGateway(a.StatusCode) && isPage(a.Header, a.body) {
		return t.webPage(c.Operation)
	}
	text := t.Redact(string(a.body))
	f := &fault.ResponseError{Status: a.StatusCode, Data: text, Unprocessed: v.unprocessed}
	f.Operation = c.Operation
	f.Hint = t.statusHint(c, a, v)
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
	if data == nil {
		if r := StorageRefusal(a.body); r.Code != "" { // it redirects to its storage
			f.Service, f.Code, f.Message = "storage", r.Code, "the storage refused it: "+cmp.Or(r.Message, r.Code)
		}
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

// fromGateway reports whether a status is typical of a gateway, with a page of its own, when the platform
// behind it does not answer.
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

func (t *Transport) statusHint(c call, a *answer, v verdict) string {
	switch s := a.StatusCode; {
	case s == http.StatusBadRequest || s == http.StatusUnprocessableEntity:
		return "the platform considers the request malformed: compare its arguments with the message"
	case s == http.StatusUnauthorized:
		return "the platform does not accept the token, although it was just issued; check with its administrator"
	case s == http.StatusForbidden:
		return fmt.Sprintf("%s may not do this; request permission, or use other credentials", t.options.Credentials.who())
	case s == http.StatusNotFound:
		if t.local {
			return "check the identifier, and that it is of the local platform"
		}
		return fmt.Sprintf("check the identifier, and that it belongs to %s", t.base.Host)
	case s == http.StatusProxyAuthRequired:
		return "the proxy requires a user: --proxy http://user:password@host:port"
	case s == http.StatusConflict:
		return "such an object exists already, or its state does not allow this; look it up first"
	case s == http.StatusRequestEntityTooLarge:
		return "it is too large for the platform: send less at once"
	case s == http.StatusTooManyRequests:
		return "the platform limits requests: run again later, or with fewer workers"
	case s == http.StatusInsufficientStorage:
		return "make room where the platform keeps its data, and run again"
	case s >= 500 && v.unprocessed:
		return "the platform is overloaded and did not carry it out: run again later"
	case s >= 500 && !c.Repeatable:
		return "a fault of the platform, and it may have been processed: check whether it was before repeating it"
	case s >= 500:
		return "a fault of the platform: run again later"
	}
	return fmt.Sprintf("check that %s is the platform's address, and that it supports this operation", t.base)
}
