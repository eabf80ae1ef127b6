// Package jobs keeps jobs in a database: queued, running and ended ones, with log and result. The engine is
// River; this package adds what users see.
//
// A Store is opened on SQLite in the state folder, private to the user, or on PostgreSQL, shared by machines.
// A job is inserted with Submit and executed by a worker (runtime/jobs/worker); each attempt is a row of
// tr_run. The tables are described in schema/. All times are milliseconds of the database's clock.
//
// Begin reading in store.go, then submit.go. engine.go holds River's public client, dialect.go the
// differences between the two databases.
package jobs

import (
	"encoding/json"
	"time"
)

// Job is a job with its present state.
type Job struct {
	ID int64
	Spec
	State     State
	Waiting   string    // what it waits for, such as its key; "" if nothing
	Epoch     int64     // of its newest attempt; 0 before the first
	Tries     int       // attempts that count against Retries
	ExitCode  *int      // of the last finished attempt
	Message   string    // of its last failure
	Submitted time.Time // by the clock of the database, like all times below
	Due       time.Time // not before
	Started   time.Time // start of the newest attempt; zero before the first
	Ended     time.Time // zero before its end
	Worker    string    // name of the worker of the newest attempt
	Cancelled bool      // its cancellation was requested
}

// MarshalJSON writes a job as in transect jobs --json.
func (j Job) MarshalJSON() ([]byte, error) { return json.Marshal(j.Facts()) }

// Facts is a job in JSON.
type Facts struct {
	ID        int64      `json:"id"`
	State     State      `json:"state"`
	Waiting   string     `json:"waiting_for,omitempty"`
	Run       string     `json:"run" jsonschema:"ID of its run, for transect runs show"`
	Spec      Spec       `json:"job" jsonschema:"what was submitted"`
	Attempts  int64      `json:"epoch" jsonschema:"of its newest attempt, 0 before the first"`
	Tries     int        `json:"tries" jsonschema:"attempts that count against retries"`
	ExitCode  *int       `json:"exit_code" jsonschema:"of the last finished attempt"`
	Message   string     `json:"message,omitempty" jsonschema:"of its last failure"`
	Submitted *time.Time `json:"submitted"`
	Due       *time.Time `json:"due" jsonschema:"not before"`
	Started   *time.Time `json:"started" jsonschema:"start of the newest attempt"`
	Ended     *time.Time `json:"ended"`
	Worker    string     `json:"worker,omitempty" jsonschema:"of the newest attempt"`
	Cancelled bool       `json:"cancel_requested,omitempty"`
}

// Facts returns the value that MarshalJSON writes.
func (j Job) Facts() Facts {
	return Facts{j.ID, j.State, j.Waiting, RunID(j.ID), j.Spec, j.Epoch, j.Tries, j.ExitCode, j.Message,
		Stamp(j.Submitted), Stamp(j.Due), Stamp(j.Started), Stamp(j.Ended), j.Worker, j.Cancelled}
}
