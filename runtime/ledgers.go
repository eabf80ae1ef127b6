package runtime

import (
	"cmp"
	"context"
	"io/fs"

	"transect/client/ledger"
	"transect/runtime/jobs"
)

// ReadLedger calls f with the ledger of a run, which is that of a job in the
// database of jobs. It fails with fs.ErrNotExist when the run has none.
func (p *Process) ReadLedger(ctx context.Context, jobsURL, run string, f func(*ledger.Ledger) error) error {
	job := jobs.JobOfRun(run)
	if job == 0 {
		l, err := ledger.OpenToRead(p.LedgerFolder(), run)
		if err != nil {
			return err
		}
		defer l.Close()
		return f(l)
	}
	return p.withJobs(ctx, jobsURL, func(s *jobs.Store) error {
		if _, err := s.Get(ctx, job); err != nil {
			return err
		}
		l, err := ledger.OpenRemoteToEdit(run, s.Ledger(ctx, job, 0))
		if err != nil {
			return err
		}
		defer l.Close()
		if len(l.Starts()) == 0 {
			return fs.ErrNotExist
		}
		return f(l)
	})
}

// EditLedger is ReadLedger for decisions about writes of a run that is not in
// progress.
func (p *Process) EditLedger(ctx context.Context, jobsURL, run string, f func(*ledger.Ledger) error) error {
	job := jobs.JobOfRun(run)
	if job == 0 {
		l, err := ledger.OpenToEdit(p.LedgerFolder(), run)
		if err != nil {
			return err
		}
		defer l.Close()
		return f(l)
	}
	return p.withJobs(ctx, jobsURL, func(s *jobs.Store) error {
		records, err := s.EditLedger(ctx, job)
		if err != nil {
			return err
		}
		l, err := ledger.OpenRemoteToEdit(run, records)
		if err != nil {
			return err
		}
		defer l.Close()
		return f(l)
	})
}

func (p *Process) withJobs(ctx context.Context, url string, f func(*jobs.Store) error) error {
	s, err := p.OpenJobs(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	return f(s)
}

// OpenJobs opens the database of jobs at an address, else that of TRANSECT_JOBS or
// of this user.
func (p *Process) OpenJobs(ctx context.Context, url string) (*jobs.Store, error) {
	return jobs.Open(ctx, jobs.Config{URL: cmp.Or(url, p.Getenv("TRANSECT_JOBS")), StateDir: p.StateDir()})
}
