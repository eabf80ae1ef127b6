package fault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestTransient(t *testing.T) {
	for status, want := range map[int]bool{200: false, 400: false, 401: false, 404: false, 408: true, 409: false, 413: false, 429: true,
		500: true, 501: false, 502: true, 503: true, 504: true, 505: false, 507: false, 520: true} {
		if got := Transient(fmt.Errorf("around: %w", &ResponseError{Status: status})); got != want {
			t.Errorf("status %d: %v", status, got)
		}
	}
	for _, err := range []error{&ConnectionError{}, &TimeoutError{}, In("projects.search", Of(&UploadError{}, "%w", &ConnectionError{}))} {
		if !Transient(err) {
			t.Errorf("%T is not transient", err)
		}
	}
	for _, err := range []error{nil, &CancelledError{}, &ConfigError{}, errors.New("no")} {
		if Transient(err) {
			t.Errorf("%T is transient", err)
		}
	}
}

func TestStopped(t *testing.T) {
	end := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		return ctx
	}
	limit := &LimitError{}
	if err := Stopped(end(limit)); err != error(limit) {
		t.Errorf("the cause became %v", err)
	}
	late, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-late.Done()
	if err := Stopped(late); Find(err).Name() != "TimeoutError" {
		t.Errorf("a deadline is %v", err)
	}
	signal := errors.New("interrupted")
	if err := Stopped(end(signal)); Find(err).Name() != "CancelledError" || !errors.Is(err, signal) {
		t.Errorf("a foreign cause is %v", err)
	}
	if err := Stopped(end(nil)); err.Error() != "stopped" {
		t.Errorf("cancelling is %v", err)
	}
}

func TestReason(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for want, err := range map[string]error{
		"no such file or directory":             &fs.PathError{Op: "open", Path: "/a", Err: syscall.ENOENT},
		"file exists":                           fmt.Errorf("around: %w", &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EEXIST}),
		"connection refused":                    &url.Error{Op: "Get", URL: "http://u:p@h/", Err: dial},
		"h: no such host":                       &net.OpError{Op: "dial", Err: &net.DNSError{Name: "h", Err: "no such host"}},
		"proxy: connection refused":             &net.OpError{Op: "proxyconnect", Err: dial},
		"may not be read: open /a: file exists": Of(&PermissionError{}, "may not be read: %w", &fs.PathError{Op: "open", Path: "/a", Err: syscall.EEXIST}),
		"plain":                                 errors.New("plain"),
	} {
		if got := Reason(err); got.Error() != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if Reason(nil) != nil {
		t.Error("no error has a reason")
	}
}

func TestAttemptsAreSaidOnce(t *testing.T) {
	for hint, want := range map[string]string{"": "tried 6 times", "run again": "run again (tried 6 times)"} {
		err := Hinted(Of(&ConnectionError{}, "no"), "%s", hint)
		AfterAttempts(AfterAttempts(err, 4), 6)
		if got := Find(err).Facts().Hint; got != want || WithoutAttempts(got) != hint {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
