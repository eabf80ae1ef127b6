// Package notify reports how a run went: pings for healthchecks-style monitors, webhooks, mail. Delivery is
// at least once: a notification may arrive twice when a connection breaks.
//
// Addresses of monitors and webhooks are secrets: errors contain only their host.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/transport/httpcore"
	"transect/client/wait"
	"transect/stdlib/web"
)

const (
	attempts = 3
	silence  = 10 * time.Second // per attempt
	answer   = 64 << 10         // bytes of a response to read
	// longestBody is the part of a ping's body that monitors keep.
	longestBody = 100_000
)

// The events of a ping.
const (
	Start   = "start"
	Success = "success"
	Fail    = "fail"
	Log     = "log" // neither success nor failure
)

// Ping reports to a monitor that a run started, succeeded or failed: a request to its address, or to /start,
// /fail, /log or an exit status below it. Only the end of a long body is sent.
//
// A run must not wait long for its monitor: all attempts share one time limit.
func Ping(ctx context.Context, c *web.Client, to, event, body string) error {
	u, err := web.Parse(to)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if event != Success {
		u = u.JoinPath(event)
	}
	if len(body) > longestBody {
		body = strings.ToValidUTF8(body[len(body)-longestBody:], "")
	}
	err = post(limited, c, u, "text/plain; charset=utf-8", []byte(body))
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fault.Of(&fault.TimeoutError{}, "the monitor %s did not answer within %s", u.Host, pingTimeout)
	}
	return err
}

// Webhook posts a message as JSON. A text becomes {"text": …}, the format of chat services.
func Webhook(ctx context.Context, c *web.Client, to string, message any) error {
	u, err := web.Parse(to)
	if err != nil {
		return err
	}
	if text, ok := message.(string); ok {
		message = map[string]string{"text": text}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return fault.Of(&fault.ParameterError{}, "the message cannot be written as JSON: %w", err)
	}
	return post(ctx, c, u, "application/json", bytes.TrimSpace(b.Bytes()))
}

// post sends a request, with retries until there is a response.
func post(ctx context.Context, c *web.Client, to *url.URL, kind string, body []byte) error {
	for n := 1; ; n++ {
		err := once(ctx, c, to, kind, body)
		if err == nil || ctx.Err() != nil || n == attempts || !fault.Transient(err) {
			return err
		}
		if err := wait.Sleep(ctx, time.Duration(n*n)*pause); err != nil {
			return err
		}
	}
}

// pingTimeout limits all attempts of a ping together.
var pingTimeout = 10 * time.Second

// pause is the delay before the second attempt.
var pause = 500 * time.Millisecond

func once(ctx context.Context, c *web.Client, to *url.URL, kind string, body []byte) error {
	r := &httpcore.Request{Method: http.MethodPost, URL: to, Header: http.Header{"Content-Type": {kind}}, Stall: silence,
		Size: int64(len(body)), Body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }}
	if len(body) == 0 {
		r.Body = nil
		r.Header = nil
	}
	a, err := c.Do(ctx, r)
	if err != nil {
		return err
	}
	defer a.Close()
	_, _ = io.CopyN(io.Discard, a.Body, answer) // so that the connection can be used again
	return a.Failed(nil)
}
