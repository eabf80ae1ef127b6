package ingest

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"transect/client/fault"
)

// maxBroken is how many files in a row may fail by the connection before the
// platform counts as unreachable. One file alone may be its own trouble.
const maxBroken = 6

// breaker tells failures of single files from those of the platform.
type breaker struct{ broken atomic.Int32 }

func (b *breaker) success() { b.broken.Store(0) }

// fatal tells whether an error must stop the run.
func (b *breaker) fatal(ctx context.Context, err error) bool {
	if ctx.Err() != nil || stopsAll(err) {
		return true
	}
	if fault.Transient(err) {
		return b.broken.Add(1) >= maxBroken
	}
	return false
}

// stopsAll is for errors that every other file would meet as well.
func stopsAll(err error) bool {
	var (
		refused   *fault.TokenRenewalError
		missing   *fault.MissingCredentialsError
		config    *fault.ConfigError
		cancelled *fault.CancelledError
		denied    *fault.PermissionError
		closed    *fault.PlatformError
		limit     *fault.LimitError
		answer    *fault.ResponseError
	)
	switch {
	case errors.As(err, &refused), errors.As(err, &missing), errors.As(err, &config), errors.As(err, &cancelled),
		errors.As(err, &denied), errors.As(err, &closed), errors.As(err, &limit):
		return true
	case errors.As(err, &answer):
		return answer.Status == http.StatusUnauthorized || answer.Status == http.StatusInsufficientStorage
	}
	return false
}

func status(err error) int {
	var answer *fault.ResponseError
	if errors.As(err, &answer) {
		return answer.Status
	}
	return 0
}

// named says that an error is of an ingest, before it ends the requests under
// way: they would take it for their own.
func named(err error) error {
	if fault.Find(err) == nil {
		return err
	}
	return fault.In("ingest", err)
}
