// Package fault defines the errors of Transect: one Go type for each error name that scripts can
// test (names.go). A fault describes what failed, why, and what to do next.
//
// Create one with Of, add a hint with Hinted and the operation with In; find one in a chain with
// Find. cause.go decides what is transient and extracts the system's reasons. The package imports
// no other package of the module, so that all can use it.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Fault is an error with a name and details.
type Fault interface {
	error
	// Name is the error's name in the interface, such as "ResponseError".
	Name() string
	// Facts returns the details, which may be changed.
	Facts() *Info
}

// Info holds the details of a fault.
type Info struct {
	Message   string // what failed, one sentence without the operation
	Operation string // "projects.create", or "" outside operations
	Hint      string // next step for the user, or ""
	Cause     error  // the underlying error, or nil
	Uncertain bool   // a write was sent and may have been carried out
	Outage    bool   // the host was away longer than the limit for outages

	Done, Pending []string // ids of an operation on a list: done and not done
}

// Facts returns i, so that types with an embedded Info are Faults.
func (i *Info) Facts() *Info { return i }

// Error returns one line: operation, message, cause.
func (i *Info) Error() string {
	var b strings.Builder
	if operation := i.operation(); operation != "" {
		b.WriteString(operation)
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

func (i *Info) operation() string {
	naming.Lock()
	defer naming.Unlock()
	return i.Operation
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

// Of sets the message of a fault and returns the fault:
// fault.Of(&fault.ParameterError{}, "limit must be positive, got %d", n).
// A %w verb sets the cause.
func Of[F Fault](f F, format string, args ...any) F {
	err := fmt.Errorf(format, args...)
	f.Facts().Message = err.Error()
	f.Facts().Cause = errors.Unwrap(err)
	return f
}

// Hinted sets the hint of a fault and returns the fault.
func Hinted[F Fault](f F, format string, args ...any) F {
	f.Facts().Hint = fmt.Sprintf(format, args...)
	return f
}

// In sets the operation of an error, unless it has one. Other errors become a
// RuntimeError.
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
	if known := f.Facts().Operation; known == "" || strings.HasPrefix(operation, known+".") {
		f.Facts().Operation = operation
	}
	return err
}

// Called sets the operation of an error to the one called by the user, even when another one failed within it.
func Called(operation string, err error) error {
	err = In(operation, err)
	naming.Lock()
	defer naming.Unlock()
	if f := Find(err); f != nil {
		f.Facts().Operation = operation
	}
	return err
}

// naming guards Operation, because the cause of a context is the error of all operations that use the context.
var naming sync.Mutex
