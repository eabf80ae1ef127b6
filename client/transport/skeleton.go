package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Transport sends requests to one platform.
type Transport struct{}

// TraceRecord is one exchange with secrets removed.
type TraceRecord struct {
	Time           time.Time
	Operation      string
	Attempt        int
	Method, URL    string
	RequestHeader  http.Header
	RequestBody    string
	Status         int
	ResponseHeader http.Header
	ResponseBody   string
	Duration       time.Duration
	Error          string
}

// TraceWriter prints each record to w.
func TraceWriter(w io.Writer) func(TraceRecord) { return func(TraceRecord) {} }

// New prepares a transport. It sends nothing.
func New(o Options) (*Transport, error) { return nil, errors.ErrUnsupported }

// Do sends a request and reads the whole answer.
func (t *Transport) Do(ctx context.Context, r Request) (Response, error) {
	return Response{}, errors.ErrUnsupported
}

// Stream sends a request and leaves the answer's body open for the caller.
func (t *Transport) Stream(ctx context.Context, r Request) (*http.Response, error) {
	return nil, errors.ErrUnsupported
}

// Storage sends one request to a signed address, without token and repeats.
// Any status comes back as an answer.
func (t *Transport) Storage(ctx context.Context, method, address string, header http.Header, body func() (io.ReadCloser, error), size int64) (*http.Response, error) {
	return nil, errors.ErrUnsupported
}

// Login obtains a token unless there is one, so bad credentials show early.
func (t *Transport) Login(ctx context.Context) error { return errors.ErrUnsupported }

// DescribeToken asks what a token stands for; the current one when empty.
func (t *Transport) DescribeToken(ctx context.Context, token string) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Revoke ends a token; the current one when empty.
func (t *Transport) Revoke(ctx context.Context, token string) error { return errors.ErrUnsupported }

// BaseURL is the platform's address as it is used, without a final slash.
func (t *Transport) BaseURL() string { return "" }

// Redact removes this transport's secrets, and what looks like one, from text.
func (t *Transport) Redact(text string) string { return text }

// Close drops idle connections.
func (t *Transport) Close() {}

// Redact removes what looks like a secret from text.
func Redact(text string) string { return text }
