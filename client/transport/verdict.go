package transport

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A verdict says whether a failed exchange is worth repeating, and why.
type verdict struct {
	again      bool
	reason     string
	slow       bool          // the host asked for patience
	retryAfter time.Duration // what it asked for, capped
	told       bool          // it asked for a certain time
}

// judgeStatus decides on an answer. 409 and 413 are final like any other 4xx:
// repeating changes nothing about them.
func judgeStatus(status int, header http.Header, repeatable bool, now time.Time) verdict {
	v := verdict{reason: "status " + strconv.Itoa(status)}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		v.slow = true
		v.retryAfter, v.told = retryAfter(header.Get("Retry-After"), now)
	}
	switch status {
	case http.StatusTooManyRequests:
		v.again = true
	case http.StatusServiceUnavailable:
		// With Retry-After it says that it did not take the request.
		v.again = repeatable || v.told
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported, http.StatusInsufficientStorage:
	default:
		v.again = repeatable && status >= 500
	}
	return v
}

// judgeError decides on an exchange without an answer.
func judgeError(err error, sent, repeatable bool) verdict {
	v := verdict{reason: err.Error()}
	if isTrustError(err) {
		return v // a certificate does not get better
	}
	var refused *proxyRefusal
	if errors.As(err, &refused) && refused.status < 500 {
		return v
	}
	v.again = repeatable || !sent || neverConnected(err)
	if !v.again {
		v.reason = fmt.Sprintf("may have been processed (%s)", err)
	}
	return v
}

// neverConnected is true when no byte of the request can have left.
func neverConnected(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	var dns *net.DNSError
	var refused *proxyRefusal
	return errors.As(err, &dns) || errors.As(err, &refused) || isTrustError(err)
}

func isTrustError(err error) bool {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &cert) || errors.As(err, &record) || errors.As(err, &alert)
}

// retryAfter reads the header, in seconds or as a date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(longestRetryAfter/time.Second))) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, min(at.Sub(now), longestRetryAfter)), true
	}
	return 0, false
}
