package transfer

import (
	"errors"
	"net/http"

	"transect/client/fault"
)

// AtOnceSize is how long a file may be that is sent in one request, in bytes.
const AtOnceSize = MiB

// atOnce tells whether one request will do. The bytes must be in memory: what
// is sent is complete at once, so it has to be one state of the file.
func (u *upload) atOnce() bool {
	return u.AtOnce && u.way == Either && u.plan.size <= AtOnceSize && u.src.held != nil && !u.notAtOnce.Load()
}

// notTaken tells errors after which the storage is worth a try: the platform, or
// a server in between, may not take files like that, however it shows it. Not
// those that the storage would have as well.
func notTaken(err error) bool {
	var refused *fault.ResponseError
	var broken *fault.ConnectionError
	var silent *fault.TimeoutError
	var page *fault.ConfigError // of a portal, or a filter
	switch {
	case errors.As(err, &refused):
		switch refused.Status {
		case http.StatusBadRequest, http.StatusUnauthorized, http.StatusConflict, http.StatusTooManyRequests, http.StatusInsufficientStorage:
			return false
		}
		return true
	case errors.As(err, &broken), errors.As(err, &silent), errors.As(err, &page):
		return true
	}
	return false
}
