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

// Outage reports whether the host was away for longer than is waited for.
func Outage(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if f, ok := err.(Fault); ok && f.Facts().Outage {
			return true
		}
	}
	return false
}

// Status is the HTTP status of an error response, 0 of other errors.
func Status(err error) int {
	if response, ok := errors.AsType[*ResponseError](err); ok {
		return response.Status
	}
	return 0
}

// TransientStatus reports whether a request that got this HTTP status may succeed
// later: 408, 429 and 5xx, but not 501, 505 and 507, which time does not cure.
func TransientStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusInsufficientStorage:
		return false
	}
	return status >= 500
}

// Stopped is the error of work whose context ended: the context's cause when
// that is a fault, else a TimeoutError or a CancelledError around it.
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

// Doubtful is the error of a write that a time limit cut short after it was sent:
// it may have been done. Other errors are returned as they are.
func Doubtful(err error, hint string) error {
	timeout, ok := Find(err).(*TimeoutError)
	if !ok {
		return err
	}
	own := &TimeoutError{} // one limit may end many calls
	own.Info = Info{Operation: timeout.operation(), Message: timeout.Message, Cause: timeout.Cause, Hint: hint,
		Uncertain: true}
	if timeout.Hint != "" && !timeout.Uncertain {
		own.Hint = timeout.Hint + "; " + hint
	}
	return own
}

// Reason is what the system said of a file or a connection, without the
// operation, path, address or URL around it: the message that it becomes part
// of names those. Faults and other errors are returned as they are.
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

// WithoutAttempts is a hint without what AfterAttempts added.
func WithoutAttempts(hint string) string { return attemptsAtEnd().ReplaceAllString(hint, "") }

// AfterAttempts adds to a fault's hint how often the call was tried, in place of
// what an earlier attempt added.
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
