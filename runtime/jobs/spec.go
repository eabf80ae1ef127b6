package jobs

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/human"
	"transect/runtime/jobs/setting"
)

// Spec is a job as submitted. It holds no secrets: a job names a profile of its worker.
type Spec struct {
	Script string   `json:"script"`           // as given by the submitter: a path, or @NAME of the binary
	Args   []string `json:"args,omitempty"`   // of the script
	Run    []string `json:"run,omitempty"`    // flags of transect run, such as --local
	Env    []string `json:"env,omitempty"`    // NAME=value: the submitter's variables for transect run, without secrets
	Folder string   `json:"folder,omitempty"` // the submitter's folder, absolute
	Bundle string   `json:"bundle,omitempty"` // key of the script with its modules; "" for scripts of the binary
	setting.Settings
	Schedule string `json:"schedule,omitempty"` // the schedule that submitted it
	Slot     int64  `json:"slot,omitempty"`     // the due time of the schedule
	Parent   int64  `json:"parent,omitempty"`   // the job that submitted it
	User     string `json:"user,omitempty"`     // the submitter, user@host, unverified
	// Submitter is the database user that submitted it; "" on SQLite, and for the user of the connection.
	Submitter string `json:"submitter,omitempty"`

	At time.Time     `json:"-"` // not before; zero: at once
	In time.Duration `json:"-"` // not before this long after now
}

// DefaultQueue is the queue that workers serve by default.
const DefaultQueue = "default"

// Kind returns the kind of all jobs in River.
func (Spec) Kind() string { return "transect" }

// Complete sets defaults and checks the values.
func (s *Spec) Complete() error {
	s.Queue, s.Priority = cmp.Or(s.Queue, DefaultQueue), cmp.Or(s.Priority, setting.Defaults().Priority)
	switch {
	case s.Script == "":
		return fault.Of(&fault.UsageError{}, "no script was named")
	case s.Priority < 1 || s.Priority > 4:
		return fault.Of(&fault.UsageError{}, "priority %d is out of range: 1 (first) to 4 (last)", s.Priority)
	case s.Retries < 0 || s.Timeout < 0 || s.In < 0 || s.Late < 0:
		return fault.Of(&fault.UsageError{}, "retries and durations must not be negative")
	case !s.At.IsZero() && s.In > 0:
		return fault.Of(&fault.UsageError{}, "a start time and a delay cannot be combined")
	}
	for _, text := range slices.Concat([]string{s.Key}, s.Args, s.Run, s.Env) {
		if !Storable(text) { // it would reach the script as another text
			return fault.Hinted(fault.Of(&fault.UsageError{}, "a job cannot have %q: it is not UTF-8", text),
				"give the file or folder another name")
		}
	}
	return CheckQueue(s.Queue)
}

// CheckQueue accepts letters, digits and -_.: as the name of a queue.
func CheckQueue(name string) error {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.:", c)) {
			return fault.Hinted(fault.Of(&fault.UsageError{},
				"invalid queue name %q: only letters, digits and -_.: are allowed", name), "such as default or %s", "field-office")
		}
	}
	if name == "" || len(name) > 100 {
		return fault.Of(&fault.UsageError{}, "a queue name has 1 to 100 characters")
	}
	return nil
}

// Public returns the job without what is stored elsewhere: the submitter and the targets of notices, which
// not everyone who sees the job may see.
func (s Spec) Public() Spec {
	s.Submitter, s.OnFailure, s.Ping = "", "", ""
	return s
}

// SetTargets sets the targets of notices; jobs of earlier versions have them in their JSON.
func (s *Spec) SetTargets(onFailure, ping sql.NullString) {
	if onFailure.Valid {
		s.OnFailure, s.Ping = onFailure.String, ping.String
	}
}

// By returns who submitted the job: the database's user takes precedence over the claimed one.
func (s Spec) By() string {
	name, _, _ := strings.Cut(s.User, "@")
	switch {
	case s.Submitter == "" || s.Submitter == name:
		return s.User
	case s.User == "":
		return s.Submitter
	}
	return s.Submitter + " (" + s.User + ")"
}

// optionPlan is the option of transect run with the checksum and the file of a plan.
const optionPlan = "apply"

// Plan returns the checksum of the plan that the job carries out, "" for none.
func (s Spec) Plan() string {
	for _, word := range s.Run {
		if agreed, ok := strings.CutPrefix(word, "--"+optionPlan+"="); ok {
			sum, _, _ := strings.Cut(agreed, ":")
			return sum
		}
	}
	return ""
}

// SlotEnv returns the variables with the slot of a schedule's job, in UTC.
func (s Spec) SlotEnv() []string {
	if s.Schedule == "" {
		return nil
	}
	return []string{"TRANSECT_SCHEDULE=" + s.Schedule, "TRANSECT_SLOT=" + FromMillis(s.Slot).UTC().Format(time.RFC3339)}
}

// Title returns the script with its arguments, for lists.
func (s Spec) Title() string {
	return human.Shorten(human.Line(strings.Join(append([]string{s.Script}, s.Args...), " ")), 200)
}
