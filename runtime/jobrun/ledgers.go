package jobrun

import (
	"cmp"
	"context"
	"io/fs"

	"transect/client/ledger"
	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/runledger"
)

// ReadLedger calls f with the ledger of a run, from the jobs database for jobs. It fails with fs.ErrNotExist
// when the run has none.
func ReadLedger(ctx context.Context, p *runtime.Process, jobsURL, run string, f func(*ledger.Ledger) error) error {
	records := func(s *jobs.Store, job int64) (*jobs.Ledger, error) {
		_, err := s.Get(ctx, job)
		return s.Ledger(ctx, job, 0), err
	}
	return withLedger(ctx, p, jobsURL, run, ledger.OpenToRead, records, func(l *ledger.Ledger) error {
		if jobs.JobOfRun(run) > 0 && len(l.Starts()) == 0 {
			return fs.ErrNotExist
		}
		return f(l)
	})
}

// EditLedger is ReadLedger for decisions about writes of a run that is not in progress.
func EditLedger(ctx context.Context, p *runtime.Process, jobsURL, run string, f func(*ledger.Ledger) error) error {
	records := func(s *jobs.Store, job int64) (*jobs.Ledger, error) { return s.EditLedger(ctx, job) }
	return withLedger(ctx, p, jobsURL, run, ledger.OpenToEdit, records, f)
}

// withLedger opens the ledger of a run: a file, or the records of a job.
func withLedger(ctx context.Context, p *runtime.Process, jobsURL, run string,
	file func(dir, run string) (*ledger.Ledger, error), records func(*jobs.Store, int64) (*jobs.Ledger, error),
	f func(*ledger.Ledger) error) error {
	open := func() (*ledger.Ledger, error) { return file(runledger.Folder(p), run) }
	if job := jobs.JobOfRun(run); job > 0 {
		s, err := OpenJobs(ctx, p, jobsURL)
		if err != nil {
			return err
		}
		defer s.Close()
		open = func() (*ledger.Ledger, error) {
			r, err := records(s, job)
			if err != nil {
				return nil, err
			}
			return ledger.OpenRemoteToEdit(run, r)
		}
	}
	l, err := open()
	if err != nil {
		return err
	}
	defer l.Close()
	return f(l)
}

// OpenJobs opens the jobs database at an address, by default the one in TRANSECT_JOBS or the user's own.
func OpenJobs(ctx context.Context, p *runtime.Process, url string) (*jobs.Store, error) {
	return jobs.Open(ctx, jobs.Config{URL: cmp.Or(url, p.Getenv("TRANSECT_JOBS")), StateDir: p.StateDir()})
}
