package jobrun

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"transect/client/ledger"
	"transect/client/transport"
	"transect/runtime"
	"transect/runtime/jobs"
	"transect/runtime/unattended/history"
	"transect/runtime/unattended/logfile"
)

// Archive finds the runs of jobs in the jobs database. It implements runledger.Archive.
type Archive struct {
	Process *runtime.Process
	URL     string // of the database; see OpenJobs
}

// Has reports whether a run is one of a job.
func (a *Archive) Has(run string) bool { return jobs.JobOfRun(run) > 0 }

// Ledger calls f with the ledger of the run of a job.
func (a *Archive) Ledger(ctx context.Context, run string, edit bool, f func(*ledger.Ledger) error) error {
	return a.with(ctx, func(s *jobs.Store) error {
		job := jobs.JobOfRun(run)
		var err error
		records := s.Ledger(ctx, job, 0)
		if edit {
			records, err = s.EditLedger(ctx, job)
		} else {
			_, err = s.Get(ctx, job)
		}
		if err != nil {
			return err
		}
		l, err := ledger.OpenRemoteToEdit(run, records)
		if err != nil {
			return err
		}
		defer l.Close()
		if !edit && len(l.Starts()) == 0 {
			return fs.ErrNotExist
		}
		return f(l)
	})
}

// Record returns the record of the run of a job and the last lines of its output.
func (a *Archive) Record(ctx context.Context, run string, lines int) (s *history.Summary, output string, err error) {
	err = a.with(ctx, func(store *jobs.Store) error {
		record, err := store.Record(ctx, jobs.JobOfRun(run))
		if err != nil {
			return err
		}
		s = record.Summary
		output, err = LastOutput(ctx, store, jobs.JobOfRun(run), lines)
		return err
	})
	return s, output, err
}

// Command returns the folder and the flags of transect run that the job of a run was submitted with.
func (a *Archive) Command(ctx context.Context, run string) (folder string, flags []string, err error) {
	err = a.with(ctx, func(store *jobs.Store) error {
		job, err := store.Get(ctx, jobs.JobOfRun(run))
		if err == nil {
			folder, flags = job.Folder, job.Run
		}
		return err
	})
	return folder, flags, err
}

// Resume returns the command that resumes the run of a job, and the one that removes it.
func (a *Archive) Resume(run string) (resume, remove string) {
	job := jobs.JobOfRun(run)
	return fmt.Sprintf("transect jobs retry %d", job), fmt.Sprintf("transect jobs rm %d", job)
}

// with calls f with the jobs database.
func (a *Archive) with(ctx context.Context, f func(*jobs.Store) error) error {
	s, err := OpenJobs(ctx, a.Process, a.URL)
	if err != nil {
		return err
	}
	defer s.Close()
	return f(s)
}

// OpenJobs opens the jobs database at an address, by default the one in TRANSECT_JOBS or the user's own.
func OpenJobs(ctx context.Context, p *runtime.Process, url string) (*jobs.Store, error) {
	return jobs.Open(ctx, jobs.Config{URL: cmp.Or(url, p.Getenv("TRANSECT_JOBS")), StateDir: p.StateDir()})
}

// LastOutput returns the last lines of the output of a job.
func LastOutput(ctx context.Context, s *jobs.Store, job int64, lines int) (string, error) {
	list, err := s.LogEnd(ctx, job, lines)
	var text strings.Builder
	for _, b := range list {
		text.WriteString(b.Lines)
	}
	return transport.Redact(string(logfile.LastLines([]byte(text.String()), lines))), err
}
