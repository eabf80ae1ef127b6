package transport

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/transport/httpcore"
)

// A verdict says whether a failed exchange is worth repeating, and why.
type verdict struct {
	again      bool
	reason     string
	overloaded bool          // the host asks for fewer requests (429, 503)
	retryAfter time.Duration // the wait it asks for, capped
	hasRetry   bool          // it named one
}

// judgeStatus decides on an answer.
func judgeStatus(status int, header http.Header, repeatable bool, now time.Time) verdict {
	v := verdict{reason: "status " + strconv.Itoa(status)}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		v.overloaded = true
		v.retryAfter, v.hasRetry = retryAfter(header.Get("Retry-After"), now)
	}
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && v.hasRetry:
		v.again = true // surely not processed
	default:
		v.again = repeatable && fault.TransientStatus(status)
	}
	return v
}

// judgeError decides on an exchange without an answer.
func judgeError(err error, sent, repeatable bool) verdict {
	v := verdict{reason: err.Error()}
	var refused *httpcore.ProxyRefusal
	if httpcore.IsTrustError(err) || errors.As(err, &refused) && refused.Status < 500 {
		return v // time does not cure these
	}
	v.again = repeatable || !sent || httpcore.NeverConnected(err)
	if !v.again {
		v.reason = fmt.Sprintf("may have been processed (%s)", err)
	}
	return v
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
