// Package fault holds the errors of Transect: one Go type for each name a
// script can see. Every one carries what failed, why, and what to do next.
// It imports nothing of the house, so every room can raise the same errors.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Fault is an error with a name scripts can test and the facts around it.
type Fault interface {
	error
	// Name is the error's name in the interface, such as "ResponseError".
	Name() string
	// Facts gives what is common to all faults, for reading and completing.
	Facts() *Info
}

// Info is what every fault can say.
type Info struct {
	Message   string // what failed, one sentence without the operation
	Operation string // "projects.create", or "" outside operations
	Hint      string // what to do next, or ""
	Cause     error  // the error underneath, or nil

	Done, Pending []string // of a list of ids: done, and not done, when it failed
}

// Facts returns itself, so that embedding types satisfy Fault.
func (i *Info) Facts() *Info { return i }

// Error is one readable line: operation, message, cause.
func (i *Info) Error() string {
	var b strings.Builder
	if i.Operation != "" {
		b.WriteString(i.Operation)
		b.WriteString(": ")
	}
	b.WriteString(i.Message)
	if i.Cause != nil && !strings.Contains(i.Message, i.Cause.Error()) {
		if i.Message != "" {
			b.WriteString(": ")
		}
		b.WriteString(i.Cause.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (i *Info) Unwrap() error { return i.Cause }

// Find returns the outermost fault in err's chain, or nil.
func Find(err error) Fault {
	var f Fault
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// Of fills a fault's message and returns it:
// fault.Of(&fault.ParameterError{}, "limit must be positive, got %d", n).
// A %w verb sets the cause.
func Of[F Fault](f F, format string, args ...any) F {
	err := fmt.Errorf(format, args...)
	f.Facts().Message = err.Error()
	f.Facts().Cause = errors.Unwrap(err)
	return f
}

// Hinted adds what to do next to a fault.
func Hinted[F Fault](f F, format string, args ...any) F {
	f.Facts().Hint = fmt.Sprintf(format, args...)
	return f
}

// In names the operation an error happened in, unless it has one already.
// Errors that are no faults become a RuntimeError.
func In(operation string, err error) error {
	if err == nil {
		return nil
	}
	f := Find(err)
	if f == nil {
		f = Of(&RuntimeError{}, "%w", err)
		err = f
	}
	naming.Lock()
	defer naming.Unlock()
	if f.Facts().Operation == "" {
		f.Facts().Operation = operation
	}
	return err
}

// naming guards the names of operations: what ends a context is the error of
// every operation under way in it.
var naming sync.Mutex
