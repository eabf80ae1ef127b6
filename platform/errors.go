package platform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	"transect/client/schema"
	"transect/client/transport/httpserve"
	"transect/platform/blob"
	"transect/platform/store"
)

// failure is an answer that says what went wrong, in the platform's shape.
type failure struct {
	status  int
	Service string `json:"service"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

func (f *failure) Error() string { return f.Message }

func fail(status int, code, format string, args ...any) *failure {
	return &failure{status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// invalid is the failure of a request that is wrong by itself.
func invalid(format string, args ...any) *failure {
	return fail(http.StatusBadRequest, "InvalidRequest", format, args...)
}

func notFound(what string, ids ...string) *failure {
	f := fail(http.StatusNotFound, "ResourceNotFound", "%s %s does not exist", what, strings.Join(ids, ", "))
	f.Details = map[string]any{what: ids}
	return f
}

func conflict(format string, args ...any) *failure {
	return fail(http.StatusConflict, "Conflict", format, args...)
}

func forbidden(format string, args ...any) *failure {
	return fail(http.StatusForbidden, "Forbidden", format, args...)
}

func unauthorized(code, format string, args ...any) *failure {
	return fail(http.StatusUnauthorized, code, format, args...)
}

// failed turns any error of a handler into an answer. What is no failure of
// the request is the platform's own: its text stays in the log.
func (p *Platform) failed(r *Request, err error) *failure {
	var f *failure
	var argument *schema.JSONError
	var query *store.QueryError
	var digest *blob.ChecksumError
	var tooLong *http.MaxBytesError
	var unread *bodyError
	switch {
	case errors.As(err, &f):
		copied := *f
		f = &copied
	case errors.As(err, &argument):
		f = wrong(argument.Key, "%s", argument.Message)
	case errors.As(err, &query):
		f = wrong(query.Key, "%s", query.Message)
	case errors.As(err, &digest):
		f = fail(http.StatusBadRequest, "BadDigest", "%s", digest)
	case errors.As(err, &tooLong):
		f = fail(http.StatusRequestEntityTooLarge, "RequestTooLarge", "the request's body is longer than %d bytes", tooLong.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		f = fail(http.StatusRequestTimeout, "RequestTimeout", "no byte of the request's body came for a minute, or less than %d bytes a second", httpserve.MinRate)
	case r.http.Context().Err() != nil || errors.Is(err, context.Canceled):
		f = fail(http.StatusServiceUnavailable, "RequestCancelled", "the request was given up or the platform is closing")
	case errors.As(err, &unread):
		f = invalid("the request's body cannot be read: %v", unread)
	case store.IsFull(err) || errors.Is(err, syscall.ENOSPC):
		f = fail(http.StatusInsufficientStorage, "DiskFull", "the disk of the platform's folder %s is full: free some space on it and send the request again", p.options.Dir)
	default:
		p.log.Error("request failed", "method", r.http.Method, "path", r.http.URL.Path, "error", err)
		f = fail(http.StatusInternalServerError, "InternalError", "the platform failed; its log says why")
	}
	f.Service = r.service
	return f
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"code":"InternalError","message":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
