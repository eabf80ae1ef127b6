package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/transport/httpcore"
)

const (
	// firstContactRetries applies to a host that never answered: a mistyped address is reported within
	// seconds.
	firstContactRetries = 2
	// maxRefusal limits what is read of the body of an error answer, in bytes.
	maxRefusal = 1 << 20
	// standardBound limits an answer of unknown kind, in bytes.
	standardBound = 64 << 20
	// deepest limits the nesting of values in an answer, as in encoding/json. Code that processes answers may
	// recurse for each level.
	deepest = 10_000
)

// call is a request with settings internal to this package.
type call struct {
	Request
	stream bool
	// clientPair marks a request for a token: Basic authorization, no token.
	clientPair bool
	below      bool // send it directly to the platform, bypassing Options.Over
}

// answer is a response, read whole unless it is a stream.
type answer struct {
	*http.Response
	body []byte
}

// send sends a request and repeats it as its effect allows.
func (t *Transport) send(ctx context.Context, c call) (*answer, error) {
	if c.Method == "" {
		c.Method = http.MethodPost
	}
	if t.over != nil && !c.clientPair && !c.below {
		return t.askOver(ctx, c)
	}
	u, err := t.locate(c.Path, c.Query)
	if err != nil {
		return nil, fault.In(c.Operation, err)
	}
	p := t.pacer(u)
	renewed := false
	retries := &Retries{Limit: t.options.MaxRetries, First: firstBackoff, Longest: longestBackoff,
		contact: firstContactRetries}
	for attempt := 1; ; attempt++ {
		token, err := t.tokenFor(ctx, c, nil)
		if err != nil {
			return nil, err
		}
		if err := t.paced(ctx, p); err != nil {
			return nil, t.interrupted(ctx, c.Operation)
		}
		a, err := t.once(ctx, c, u, p, token, attempt)
		if a != nil && a.StatusCode == http.StatusUnauthorized && token != nil && !renewed && t.ours(a.Request.URL) {
			if _, err := t.tokenFor(ctx, c, token); err != nil {
				return nil, err
			}
			renewed = true
			attempt-- // not the request's fault
			continue
		}
		v, failure := t.assess(ctx, c, u, p, a, err)
		if failure == nil {
			return a, nil
		}
		if c.GiveUp != nil && c.GiveUp(failure, attempt) {
			return nil, fault.AfterAttempts(failure, attempt)
		}
		t.log.Debug("failed", "operation", c.Operation, "path", c.Path, "attempt", attempt, "reason",
			t.Redact(failure.Error()))
		if err := t.wait(ctx, retries, p, v, failure); err != nil {
			return nil, fault.In(c.Operation, err)
		}
	}
}

// assess decides after one exchange what to do next, and returns the error to end with, nil on success.
func (t *Transport) assess(ctx context.Context, c call, u *url.URL, p *pacer, a *answer, err error) (verdict, error) {
	if err != nil {
		var v verdict
		var lost *httpcore.Lost
		var refused *httpcore.ProxyRefusal
		sent := !errors.As(err, &lost) || lost.Sent && !httpcore.NeverConnected(err)
		switch {
		case lost == nil && fault.Transient(err): // another component has answered
			v.again, v.away = c.Repeatable, true
		case lost == nil, fault.Find(err) != nil: // decided locally
		case httpcore.IsTrustError(err), errors.As(err, &refused) && refused.Status < 500: // retrying does not cure these
		case httpcore.IsTimeout(err) && !p.everReached() && !t.outages.first:
			// One long wait for a host that never answered is enough.
		default:
			v.again, v.away = c.Repeatable || !sent, true
			p.lost(time.Now(), t.outages.silence(err))
		}
		return v, t.broken(ctx, c.Operation, u, err, sent && !c.Repeatable)
	}
	v := judgeStatus(a.StatusCode, a.Header, c.Repeatable, time.Now())
	if date, err := http.ParseTime(a.Header.Get("Date")); err == nil {
		t.ahead.Store(int64(time.Until(date)))
	}
	reached := p.everReached()
	if a.StatusCode < 300 && isPage(a.Header, a.body) {
		return verdict{again: c.Repeatable, away: true}, t.intercepted(c)
	}
	t.answered(p, v)
	if a.StatusCode >= 200 && a.StatusCode < 300 {
		return v, nil
	}
	return v, t.refusal(c, a, v, reached)
}

// once makes one exchange and reads the answer, unless a stream was requested and succeeded.
func (t *Transport) once(ctx context.Context, c call, u *url.URL, p *pacer, token *oauth2.Token,
	attempt int) (*answer, error) {
	x := &exchange{
		Request: httpcore.Request{Method: c.Method, URL: u, Header: t.header(c, token), Body: c.BodyReader, Size: c.Size,
			Confirmed: c.Confirmed},
		operation: c.Operation, sample: c.Body, attempt: attempt, over: t.over != nil && !c.clientPair && !c.below,
	}
	if c.BodyReader == nil {
		x.Answer = t.options.Timeout
	}
	t.limit(x, p, c.Repeatable)
	if c.BodyReader == nil && c.Body != nil {
		x.Size = int64(len(c.Body))
		x.Request.Body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.Body)), nil }
	}
	a, err := t.exchange(ctx, x)
	if err != nil {
		return nil, err
	}
	if c.stream && a.StatusCode < 300 {
		t.trace(x, a, nil)
		return a, nil
	}
	defer func() { _ = a.Body.Close() }()
	bound := cmp.Or(c.Bound, standardBound) + 1
	if a.StatusCode >= 300 {
		bound = maxRefusal
	}
	a.body, err = readAll(c.Buffer, a.Body, bound, a.ContentLength)
	if err == fault.ErrAnswerTooLarge && a.StatusCode >= 300 {
		err = nil // the beginning is sufficient
	}
	t.trace(x, a, err)
	if err == fault.ErrAnswerTooLarge {
		return nil, c.unusable("ask for fewer records at a time, with limit or a narrower filter",
			"%w: more than %s for this request", fault.ErrAnswerTooLarge, human.Limit(bound-1))
	}
	if err == nil && !t.local && a.cutShort() {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, &httpcore.Lost{Cause: fmt.Errorf("the answer broke off: %w", err), Sent: true}
	}
	if a.StatusCode < 300 && nestedDeeper(a.body, deepest) {
		return nil, c.unusable("check whether a proxy or another device on the way changes answers",
			"the answer is nested deeper than %d levels", deepest)
	}
	return a, nil
}

// cutShort reports whether the JSON of an answer of unknown length is incomplete, where only the end of the
// connection marks the end of the body.
func (a *answer) cutShort() bool {
	if a.StatusCode >= 300 || a.ContentLength >= 0 || len(a.TransferEncoding) > 0 || a.Uncompressed {
		return false
	}
	start := bytes.TrimSpace(a.body)
	return len(start) > 0 && (start[0] == '{' || start[0] == '[') && !json.Valid(start)
}

// nestedDeeper reports whether JSON has more than most levels of lists and objects.
func nestedDeeper(text []byte, most int) bool {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= most { // much faster than the loop
		return false
	}
	level, quoted := 0, false
	for i := 0; i < len(text) && level <= most; i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '[' || c == '{':
			level++
		case c == ']' || c == '}':
			level--
		}
	}
	return level > most
}

// header returns the headers of a platform request.
func (t *Transport) header(c call, token *oauth2.Token) http.Header {
	h := c.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	switch {
	case c.clientPair:
		pair := t.options.Credentials.ClientID + ":" + t.options.Credentials.ClientSecret
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	case token != nil:
		h.Set("Authorization", token.Type()+" "+token.AccessToken)
	}
	switch {
	case c.ContentType != "":
		h.Set("Content-Type", c.ContentType)
	case c.BodyReader != nil:
		h.Set("Content-Type", "application/octet-stream")
	case c.Method != http.MethodGet && c.Method != http.MethodHead:
		h.Set("Content-Type", "application/json")
	}
	if !c.clientPair {
		h.Set("Cache-Control", "no-cache")
	}
	if c.stream {
		// A compressed download could not be resumed at a byte offset.
		h.Set("Accept-Encoding", "identity")
	}
	h.Set("User-Agent", t.agent)
	h.Set("Referer", t.base.String())
	return h
}

// userAgent lists the products in the order of the protocol: the service added last comes first.
func userAgent(o Options) string {
	var b strings.Builder
	for i := len(o.UserAgent) - 1; i >= 0; i-- {
		if s := strings.Join(strings.Fields(o.UserAgent[i]), " "); s != "" {
			b.WriteString(s + " ")
		}
	}
	fmt.Fprintf(&b, "transect/%s Go/%s (%s; %s)", o.Version, strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS,
		runtime.GOARCH)
	return b.String()
}

// piece is how much memory is allocated for a declared length before any bytes arrive, and the unit in which
// a longer answer is read.
const piece = 8 << 20

// readAll reads an answer whose length may be declared; -1 when not. Pages of a search are megabytes long: a
// growing buffer would copy them several times. An answer longer than a piece is copied once, when its length
// is known, so that it never takes more than twice its size. At bound bytes the error is
// fault.ErrAnswerTooLarge.
func readAll(b *bytes.Buffer, r io.Reader, bound, declared int64) ([]byte, error) {
	if b == nil {
		b = new(bytes.Buffer)
	}
	b.Reset()
	if declared >= 0 && declared <= piece {
		b.Grow(int(declared) + bytes.MinRead) // room to find the end without growing
	}
	var full [][]byte // before what is in b
	for left := bound; left > 0; {
		if b.Available() == 0 {
			begun := b.Bytes()
			if len(begun) >= piece {
				full, begun = append(full, begun), nil
			}
			room := min(max(2*len(begun), bytes.MinRead), len(begun)+int(left))
			if full != nil {
				room = min(piece, int(left))
			}
			*b = *bytes.NewBuffer(append(make([]byte, 0, room), begun...))
		}
		room := b.AvailableBuffer()
		n, err := r.Read(room[:min(int64(cap(room)), left)])
		b.Write(room[:n])
		left -= int64(n)
		if err == io.EOF {
			if full != nil {
				*b = *bytes.NewBuffer(bytes.Join(append(full, b.Bytes()), nil))
			}
			return b.Bytes(), nil
		} else if err != nil {
			return b.Bytes(), err
		}
	}
	return b.Bytes(), fault.ErrAnswerTooLarge
}
