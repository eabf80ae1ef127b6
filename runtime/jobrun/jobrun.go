// Package jobrun adds jobs to a run: a script submits jobs, and the script of a job stops with its worker, writes
// only while the job is leased, keeps its ledger in the database of jobs and returns the job's result.
package jobrun

import (
	"context"
	"encoding/json"
	"net/http"

	lua "github.com/yuin/gopher-lua"

	"transect/client"
	"transect/client/fault"
	"transect/client/schema"
	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/jobs/link"
	"transect/runtime/runledger"
	"transect/runtime/unattended/history"
	"transect/runtime/vm"
	"transect/stdlib"
)

// FromWorker applies the settings that a job has from the worker that started this process, if any.
func FromWorker(p *runtime.Process, job *runtime.Job) error {
	if _, started := p.Env(link.Variable); !started {
		if n := jobs.JobOfRun(job.Run.ID); n > 0 {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is the run of job %d, which workers start", job.Run.ID, n),
				"transect jobs retry %d", n)
		}
		return nil
	}
	l, err := link.Inherited()
	if err != nil {
		return err
	}
	*job = job.With(worker{l}).With(&runledger.Elsewhere{Remote: l.Ledger(context.Background()), TakenOver: l.TakenOver,
		Files: l.Files})
	job.Run, job.Sandbox.Within = runtime.RunID{ID: l.Run, Known: true}, l.Policy
	if l.Beside != "" {
		job.Sandbox.Beside = []string{l.Beside}
	}
	go l.Guard()
	return nil
}

// worker is the part of a job with the worker that started the process.
type worker struct{ link *link.Child }

// Supervise returns what keeps the record of the run, through the worker, which resumes it as well.
func (w worker) Supervise(starting *history.Summary) history.Recorder {
	return &jobs.Recorder{Linked: jobs.Linked{Link: w.link}, Record: jobs.Record{Summary: starting}}
}

// linkOf returns the link of a job with its worker, nil for other runs.
func linkOf(job *runtime.Job) *link.Child { return runtime.PartOf[worker](job.Parts).link }

// Settings are the part of a job whose script submits jobs.
type Settings struct {
	URL string // see runtime/jobs
	// Template returns the job of a script with its arguments, as transect submit would make it with the flags of
	// this run. Optional.
	Template func(script string, args []string) (jobs.Spec, error)
}

// New returns the part of a run.
func New(p *runtime.Process, job *runtime.Job) runtime.Part {
	q := &part{process: p, job: job, link: linkOf(job), packed: map[string]*packed{}, numbers: map[[32]byte]int{}}
	if s := runtime.PartOf[*Settings](job.Parts); s != nil {
		q.Settings = *s
	}
	return q
}

// Prepare enables scripts to submit jobs.
func (q *part) Prepare(o *vm.Options) {
	if stdlib.UseJobs(o, q.forScripts()); q.link != nil {
		o.Leased = q.leased
	}
}

// Made completes the part once the interpreter is made.
func (q *part) Made(x *runtime.Execution) {
	q.x = x
	if q.link != nil {
		context.AfterFunc(q.link.Stopped(), func() { x.Stop(context.Cause(q.link.Stopped())) })
	}
}

// leased waits until the job is leased.
func (q *part) leased() error { return q.link.Gate(q.x.Interp.Context()) }

// Link delays each write to the platform until the job is leased: past its lease another machine may have begun it
// again. A request waits at its connection, as time may pass between its beginning and that.
func (q *part) Link(_ string, o *client.Options) {
	if q.link == nil {
		return
	}
	if local := o.RoundTripper; local != nil {
		o.RoundTripper = gatedTransport{local, q.leased}
		return
	}
	o.Writing = q.leased
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

// Finish stores the values returned by a job's script as the job's result.
func (q *part) Finish(ctx context.Context, err error) error {
	if failed := q.keepResult(ctx); err == nil {
		return failed
	}
	return err
}

func (q *part) keepResult(ctx context.Context) error {
	values := q.x.Returned()
	if q.link == nil || len(values) == 0 || values[0] == lua.LNil {
		return nil
	}
	plain, err := vm.FromLua(nil, values[0])
	if err == nil {
		err = schema.CheckText(plain)
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(plain)
	}
	if err != nil {
		return fault.Hinted(fault.Of(&fault.ParameterError{},
			"what the script returned cannot be the result of its job: %w", err),
			"return a table of strings, numbers and booleans, or nothing")
	}
	return jobs.Linked{Link: q.link}.PutResult(ctx, text)
}

// End closes the database of jobs.
func (q *part) End(err error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.store != nil {
		q.store.Close()
	}
	return err
}
