package runtime

import (
	"context"
	"net/http"

	"transect/client"
	"transect/client/fault"
	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
)

// FromWorker gives a job what the worker that started the process for it says of
// it; nothing of one that was started otherwise.
func FromWorker(p *Process, job *Job) (err error) {
	if _, started := p.Env(link.Variable); !started {
		if n := jobs.JobOfRun(job.Run.ID); n > 0 {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is the run of job %d, which workers start", job.Run.ID, n),
				"transect jobs retry %d", n)
		}
		return nil
	}
	if job.Link, err = link.Inherited(); err != nil {
		return err
	}
	job.Run, job.Sandbox.Within = RunID{ID: job.Link.Run, Known: true}, job.Link.Policy
	if job.Link.Beside != "" {
		job.Sandbox.beside = []string{job.Link.Beside}
	}
	go job.Link.Guard()
	return nil
}

// whenStopped stops the run when its worker says so, or is gone.
func whenStopped(l *link.Child, stop context.CancelCauseFunc) (release func() bool) {
	return context.AfterFunc(l.Stopped(), func() { stop(context.Cause(l.Stopped())) })
}

// holdBack lets each write to the platform wait until the job is leased: past its
// lease another machine may have begun it anew. A request waits at its connection, as
// time may pass between its beginning and that.
func holdBack(leased func() error, o *client.Options) {
	if local := o.RoundTripper; local != nil {
		o.RoundTripper = gatedTransport{local, leased}
		return
	}
	o.Writing = leased
}

type gatedTransport struct {
	http.RoundTripper
	leased func() error
}

func (t gatedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.leased(); err != nil {
		return nil, err
	}
	return t.RoundTripper.RoundTrip(r)
}
