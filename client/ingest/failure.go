package ingest

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"transect/client/fault"
)

// maxBroken is how many files in a row may fail on the connection before the platform counts as unreachable.
const maxBroken = 6

// breaker distinguishes failures of single files from failures of the platform.
type breaker struct{ broken atomic.Int32 }

func (b *breaker) success() { b.broken.Store(0) }

// fatal reports whether an error must end the run.
func (b *breaker) fatal(ctx context.Context, err error) bool {
	if ctx.Err() != nil || stopsRun(err) || fault.Outage(err) {
		return true
	}
	return fault.Transient(err) && b.broken.Add(1) >= maxBroken
}

// stopsRun reports whether every other file would fail with the same error.
func stopsRun(err error) bool {
	switch fault.Status(err) {
	case http.StatusUnauthorized, http.StatusInsufficientStorage:
		return true
	}
	for _, target := range []any{new(*fault.TokenRenewalError), new(*fault.MissingCredentialsError),
		new(*fault.ConfigError),
		new(*fault.CancelledError), new(*fault.PermissionError), new(*fault.PlatformError), new(*fault.LimitError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}

// withOperation adds the operation's name to a fault before the fault cancels the requests in flight, which
// would add theirs.
func withOperation(err error) error {
	if fault.Find(err) == nil {
		return err
	}
	return fault.In("ingest", err)
}

// unreadable returns the error for a file that cannot be read.
func unreadable(path string, err error) error {
	return fault.Hinted(fault.Of(&fault.FileError{}, "%s cannot be read: %w", path, fault.Reason(err)),
		"check that it is still there, and its permissions")
}
