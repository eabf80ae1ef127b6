package transport

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"transect/client/human"
)

// Longer bodies are cut in traces.
const longestTracedBody = 16 << 10

// TraceRecord is one exchange with its secrets removed. A request that was redirected or repeated produces a
// record each time.
type TraceRecord struct {
	Time           time.Time
	Operation      string
	Attempt        int // from 1
	Method, URL    string
	RequestHeader  http.Header
	RequestBody    string // JSON only, "[n bytes]" for anything else
	Status         int    // 0 without an answer
	ResponseHeader http.Header
	ResponseBody   string
	Duration       time.Duration
	Error          string // why there is no complete answer
}

// TraceWriter returns a function that writes records to w in readable form.
func TraceWriter(w io.Writer) func(TraceRecord) {
	var mu sync.Mutex
	return func(r TraceRecord) {
		var b strings.Builder
		fmt.Fprintf(&b, "> %s %s", r.Method, r.URL)
		if r.Operation != "" {
			fmt.Fprintf(&b, "  (%s, attempt %d)", r.Operation, r.Attempt)
		}
		b.WriteByte('\n')
		writeSide(&b, "> ", r.RequestHeader, r.RequestBody)
		if r.Status != 0 {
			fmt.Fprintf(&b, "< %d %s  (%s)\n", r.Status, http.StatusText(r.Status), human.Duration(r.Duration))
			writeSide(&b, "< ", r.ResponseHeader, r.ResponseBody)
		}
		if r.Error != "" {
			fmt.Fprintf(&b, "! %s\n", r.Error)
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.WriteString(w, b.String()) // errors are ignored: a trace must not stop the run
	}
}

func writeSide(b *strings.Builder, mark string, h http.Header, body string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		fmt.Fprintf(b, "%s%s: %s\n", mark, name, strings.Join(h[name], ", "))
	}
	if body != "" {
		fmt.Fprintf(b, "%s%s\n", mark, strings.ReplaceAll(body, "\n", "\n"+mark))
	}
}

// trace reports an exchange; a is nil without an answer.
func (t *Transport) trace(x *exchange, a *answer, err error) {
	if t.options.Trace == nil || x.over { // requests it passes on are traced below
		return
	}
	r := TraceRecord{
		Time: x.Started, Operation: x.operation, Attempt: x.attempt, Method: x.Method,
		URL: t.Redact(x.URL.String()), RequestHeader: t.secrets.header(x.Header),
		RequestBody: t.traced(x.sample, x.Size, x.Header.Get("Content-Type")),
		Duration:    time.Since(x.Started),
	}
	if x.signed {
		r.URL = t.secrets.address(x.URL.String())
	}
	if a != nil {
		r.Status, r.ResponseHeader = a.StatusCode, t.secrets.header(a.Header)
		r.ResponseBody = t.traced(a.body, max(int64(len(a.body)), a.ContentLength), a.Header.Get("Content-Type"))
	}
	if err != nil {
		r.Error = t.Redact(err.Error())
	}
	t.options.Trace(r)
}

// traced returns a body in the form of a trace.
func (t *Transport) traced(body []byte, size int64, contentType string) string {
	if size == 0 {
		return ""
	}
	if body == nil || !utf8.Valid(body) || strings.Contains(contentType, "octet-stream") {
		return fmt.Sprintf("[%d bytes]", size)
	}
	// Half a secret would not be recognised: more text is redacted than is shown.
	redacted := body[:min(len(body), 4*longestTracedBody)]
	text, most := t.Redact(string(redacted)), longestTracedBody
	if len(redacted) < len(body) {
		most = max(0, min(most, len(text)-longestTracedBody))
	}
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf(" [%d bytes more]", len(text)-most+len(body)-len(redacted))
	}
	return text
}
