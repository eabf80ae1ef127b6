package runtime

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"slices"

	"transect/client"
	"transect/runtime/vm"
)

// Part is a feature that takes part in a run. It implements what it needs of Preparer, Maker, Beginner,
// Linker, Checker, Finisher, io.Closer and Ender; one that implements none of them holds settings of another.
// The parts in Process.Parts are called first, then those in Job.Parts, in order.
type Part any

// NewPart makes the part of a run, nil when the job does not need it.
type NewPart func(p *Process, job *Job) Part

// Preparer completes the options of the interpreter before it is made.
type Preparer interface{ Prepare(o *vm.Options) }

// Maker is called with a run once its interpreter exists.
type Maker interface{ Made(x *Execution) }

// Beginner is called before the script runs. done means that there is nothing left to do.
type Beginner interface {
	Begin(ctx context.Context) (done bool, err error)
}

// Linker adds interceptors and transport wrappers to a connection before it is made.
type Linker interface {
	Link(address string, o *client.Options)
}

// Checker checks a connection once it is made.
type Checker interface {
	Check(ctx context.Context, c *client.Client, address string) error
}

// Finisher is called with the error of a script that has ended, nil for none, and returns the error of the
// run. Connections are still open.
type Finisher interface {
	Finish(ctx context.Context, err error) error
}

// Ender is called with the error of a run, nil for none, once everything that the run has opened is closed,
// and returns the one that is reported.
type Ender interface{ End(err error) error }

// Backend answers requests inside the process, in a platform's place.
type Backend interface {
	// Address is the address of its connections, which is never resolved.
	Address() string
	// Folder returns the folder of its data: the given folder, else the default.
	Folder(dir string) (string, error)
	// Open returns the login to the platform in a folder, the default when "", and what answers its requests. For
	// a dry run a platform that is not there is not made: an empty one answers.
	Open(ctx context.Context, dir string, dryRun bool, log *slog.Logger) (login client.Settings,
		answers http.RoundTripper, err error)
	// Close ends it. Opening it again is an error.
	Close() error
}

// PartsOf yields the parts that implement an interface.
func PartsOf[T any](parts []Part) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, part := range parts {
			if p, ok := part.(T); ok && !yield(p) {
				return
			}
		}
	}
}

// PartOf returns the first part of a type, the zero value when there is none.
func PartOf[T Part](parts []Part) (found T) {
	for part := range PartsOf[T](parts) {
		return part
	}
	return found
}

// With returns a job with another part.
func (j Job) With(p Part) Job {
	j.Parts = append(slices.Clip(j.Parts), p)
	return j
}

// Without returns a job without the parts of a type.
func Without[T Part](j Job) Job {
	j.Parts = slices.DeleteFunc(slices.Clone(j.Parts), func(p Part) bool {
		_, is := p.(T)
		return is
	})
	return j
}
