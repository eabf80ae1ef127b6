package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"sync"
)

// Transient reports whether the same call may succeed later: the connection
// failed or timed out, or the answer has a TransientStatus.
func Transient(err error) bool {
	if status := Status(err); status != 0 {
		return TransientStatus(status)
	}
	var connection *ConnectionError
	var timeout *TimeoutError
	return errors.As(err, &connection) || errors.As(err, &timeout)
}

// Outage reports whether the host was away longer than the limit for outages.
func Outage(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if f, ok := err.(Fault); ok && f.Facts().Outage {
			return true
		}
	}
	return false
}

// Status returns the HTTP status of an error response, 0 for other errors.
func Status(err error) int {
	if response, ok := errors.AsType[*ResponseError](err); ok {
		return response.Status
	}
	return 0
}

// TransientStatus reports whether a request with this HTTP status may succeed later: 408, 429 and
// 5xx, but not 501, 505 and 507, which do not resolve over time.
func TransientStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusInsufficientStorage:
		return false
	}
	return status >= 500
}

// Stopped returns the error for work whose context ended: the context's cause if it is a fault,
// else a TimeoutError or a CancelledError wrapping it.
func Stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	if Find(cause) != nil {
		return cause
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return Of(&TimeoutError{}, "the time limit passed")
	}
	f := Of(&CancelledError{}, "stopped")
	if cause != nil && !errors.Is(cause, context.Canceled) {
		f.Cause = cause
	}
	return f
}

// Doubtful returns the error for a write that a time limit interrupted after it was sent, so that
// it may have been done. Other errors are returned unchanged.
func Doubtful(err error, hint string) error {
	timeout, ok := Find(err).(*TimeoutError)
	if !ok {
		return err
	}
	own := &TimeoutError{} // one limit may end many calls, each with its own error
	own.Info = Info{Operation: timeout.operation(), Message: timeout.Message, Cause: timeout.Cause, Hint: hint,
		Uncertain: true}
	if timeout.Hint != "" && !timeout.Uncertain {
		own.Hint = timeout.Hint + "; " + hint
	}
	return own
}

// Reason returns the system's own message about a file or a connection, without the operation,
// path, address or URL around it, because the caller's message names them. Faults and other errors
// are returned unchanged.
func Reason(err error) error {
	var (
		path *fs.PathError
		link *os.LinkError
		dns  *net.DNSError
		op   *net.OpError
		uri  *url.Error
	)
	switch {
	case err == nil || Find(err) != nil:
		return err
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	case errors.As(err, &dns):
		return errors.New(dns.Name + ": " + dns.Err)
	case errors.As(err, &op) && op.Err != nil:
		if op.Op == "proxyconnect" {
			return errors.New("proxy: " + Reason(op.Err).Error())
		}
		return op.Err
	case errors.As(err, &uri):
		return Reason(uri.Err)
	}
	return err
}

var attemptsAtEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^| \()tried \d+ times\)?$`) })

// WithoutAttempts removes the addition of AfterAttempts from a hint.
func WithoutAttempts(hint string) string { return attemptsAtEnd().ReplaceAllString(hint, "") }

// AfterAttempts adds the number of attempts to a fault's hint, replacing the number from an earlier attempt.
func AfterAttempts(err error, attempts int) error {
	f := Find(err)
	if attempts < 2 || f == nil {
		return err
	}
	tried := fmt.Sprintf("tried %d times", attempts)
	hint := &f.Facts().Hint
	if *hint = WithoutAttempts(*hint); *hint == "" {
		*hint = tried
	} else {
		*hint += " (" + tried + ")"
	}
	return err
}
