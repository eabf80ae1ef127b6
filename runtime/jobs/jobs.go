// Package jobs keeps jobs in a database: what is to be run, what ran, its log
// and its result. The engine below is River; this package adds what users see.
//
// A Store is opened on SQLite in the state folder, private to the user, or on
// PostgreSQL, shared by machines. A job is inserted with Submit and executed by
// a worker (runtime/jobs/worker); each attempt is a row of tr_run. The tables
// are described in schema/. All times are milliseconds of the database's clock.
//
// Begin reading in store.go, then submit.go. dialect.go holds the differences of
// the two databases.
package jobs

import (
	"encoding/json"
	"time"
)

// Spec is a job as it was submitted. It holds no secrets: a job names a profile
// that its worker has.
type Spec struct {
	Script    string        `json:"script"`               // as the submitter named it: a path, or @NAME of the binary
	Args      []string      `json:"args,omitempty"`       // of the script
	Run       []string      `json:"run,omitempty"`        // flags of transect run, such as --local
	Env       []string      `json:"env,omitempty"`        // NAME=value: the submitter's variables for transect run, without secrets
	Folder    string        `json:"folder,omitempty"`     // the submitter's, absolute
	Bundle    string        `json:"bundle,omitempty"`     // key of the script with its modules; "" for scripts of the binary
	Queue     string        `json:"queue"`                // "default", another name, or that of a worker
	Key       string        `json:"key,omitempty"`        // of all jobs with the same key one runs at a time
	Priority  int           `json:"priority"`             // 1 first, 4 last
	Retries   int           `json:"retries"`              // tries after a temporary failure
	Timeout   time.Duration `json:"timeout,omitempty"`    // of each attempt; 0 for none
	OnFailure string        `json:"on_failure,omitempty"` // as of transect run
	Ping      string        `json:"ping,omitempty"`
	Late      time.Duration `json:"late,omitempty"`     // OnFailure is told when it has not started this long after its time; 0 for never
	Schedule  string        `json:"schedule,omitempty"` // that submitted it
	Slot      int64         `json:"slot,omitempty"`     // the due time of the schedule
	Parent    int64         `json:"parent,omitempty"`   // the job that submitted it
	User      string        `json:"user,omitempty"`     // who submitted it, user@host

	At time.Time     `json:"-"` // not before; zero for now
	In time.Duration `json:"-"` // not before this long after now
}

// DefaultQueue is the queue that workers serve unless told otherwise.
const DefaultQueue = "default"

// Kind is the kind of all jobs in River.
func (Spec) Kind() string { return "transect" }

// Job is a job and what became of it.
type Job struct {
	ID int64
	Spec
	State     State
	Waiting   string    // what it waits for, such as its key; "" for nothing
	Epoch     int64     // of its newest attempt; 0 before the first
	Tries     int       // attempts that count against Retries
	ExitCode  *int      // of the last attempt that ended
	Message   string    // of its last failure
	Submitted time.Time // by the clock of the database, as are all below
	Due       time.Time // not before
	Started   time.Time // the newest attempt; zero before the first
	Ended     time.Time // zero before its end
	Worker    string    // name of the worker of the newest attempt
	Cancelled bool      // its cancellation was asked for
}

// MaxResult is the size of the largest result.
const MaxResult = 1 << 20

// MarshalJSON writes a job as transect jobs --json does.
func (j Job) MarshalJSON() ([]byte, error) {
	return json.Marshal(j.facts())
}
