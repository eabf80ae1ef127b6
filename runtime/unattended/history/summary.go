package history

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"transect/client/recovery"
)

// The states of a run.
const (
	Running = "running"
	Ended   = "ended"
	Lost    = "lost" // its process died without recording the end
)

// Summary is one run of a script.
type Summary struct {
	ID        string    `json:"id"`
	Run       string    `json:"run,omitempty"` // ID of the run this continues, if different
	State     string    `json:"state"`
	Script    string    `json:"script"`
	Arguments []string  `json:"arguments"`           // without secrets
	Command   string    `json:"command,omitempty"`   // for a shell, without secrets
	Folder    string    `json:"folder,omitempty"`    // working directory
	Platform  string    `json:"platform,omitempty"`  // as the settings name it, without a login
	Job       string    `json:"job,omitempty"`       // of cron
	Lock      string    `json:"lock,omitempty"`      // name of its lock
	AskedBy   string    `json:"asked_by,omitempty"`  // program that requested it, by its own name
	Plan      string    `json:"plan,omitempty"`      // checksum of the plan that it carries out
	AgreedBy  string    `json:"agreed_by,omitempty"` // who had the plan carried out, user@host
	DryRun    bool      `json:"dry_run,omitempty"`
	Version   string    `json:"transect"`
	Host      string    `json:"host,omitempty"`
	PID       int       `json:"pid"`
	Started   time.Time `json:"started"`
	End       *End      `json:"end,omitempty"` // nil while running
}

// RunID returns the ID of the run that this continues.
func (s *Summary) RunID() string { return cmp.Or(s.Run, s.ID) }

// End is the result of a run.
type End struct {
	At          time.Time        `json:"at"`
	Seconds     float64          `json:"seconds"`
	ExitCode    int              `json:"exit_code"`
	Outcome     string           `json:"outcome"`
	Operations  map[string]Calls `json:"operations"`
	Sent        int64            `json:"bytes_sent"`     // of files
	Received    int64            `json:"bytes_received"` // of files
	ItemsDone   int64            `json:"items_done"`
	ItemsFailed int64            `json:"items_failed"`
	Files       map[string]int64 `json:"files,omitempty"` // of ingests, by verdict
	Writes      *recovery.Counts `json:"writes,omitempty"`
	Error       *Failure         `json:"error,omitempty"`
}

// Calls counts the calls of an operation.
type Calls struct {
	Count  int64 `json:"count"`
	Failed int64 `json:"failed"`
}

// Failure is the reason for the failure of a run.
type Failure struct {
	Name      string `json:"name"`
	Message   string `json:"message"`
	Operation string `json:"operation,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Cause     string `json:"cause,omitempty"`
	Hint      string `json:"hint,omitempty"`

	Frames []Frame `json:"frames,omitempty"` // with --debug-on-error, innermost first
}

// Frame is a function that an error was raised in.
type Frame struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Function string  `json:"function,omitempty"`
	Locals   []Local `json:"locals,omitempty"`
}

// Local is a local variable, as text without secrets.
type Local struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Code is an exit code with its meaning. docs/surviving.md has the same table.
type Code struct {
	Number  int
	Outcome string // in one word
	Meaning string
	Next    string // what to do next
}

// Codes lists the exit codes in order; the others are a script's own.
var Codes = []Code{
	{0, "success", "success", ""},
	{1, "failed", "the script raised an error", "read the error: it names the line, the cause and a hint"},
	{2, "usage", "usage, configuration or syntax error; nothing was run",
		"correct the command, or check the script with transect check"},
	{3, "partial", "finished, but some items failed", "see which and why, then resume it: transect run --resume"},
	{4, "credentials", "credentials refused", "check user, password or client"},
	{5, "temporary", "temporary failure, such as network, overloaded platform or full disk",
		"resume it later: transect run --resume"},
	{6, "locked", "another run held the lock", "nothing, unless the other run hangs"},
	{7, "decision", "the outcome of a write is unknown, and needs a decision",
		"check what the message names, then decide: transect runs settle"},
	{8, "planned", "planned only, and something would be written", "carry the plan out: transect apply"},
	{9, "drift", "the plan no longer holds: nothing was sent", "plan again: transect apply --refresh"},
	{10, "timeout", "the time limit was reached", "resume it with a longer time: transect run --resume --timeout"},
	{130, "interrupted", "interrupted", "resume it: transect run --resume"},
	{143, "terminated", "terminated, as at a shutdown", "resume it: transect run --resume"},
}

// codeOf returns the entry of an exit code.
func codeOf(number int) Code {
	if i := slices.IndexFunc(Codes, func(c Code) bool { return c.Number == number }); i >= 0 {
		return Codes[i]
	}
	return Code{number, "failed", "a code of the script's own", "see the script and its log"}
}

// Outcome returns the word for an exit code.
func Outcome(code int) string { return codeOf(code).Outcome }

// Meaning explains an exit code, and returns advice, if any.
func Meaning(code int) (meaning, next string) {
	c := codeOf(code)
	return c.Meaning, c.Next
}

// Outcome returns the word for how the run ended, or its state.
func (s *Summary) Outcome() string {
	word := s.State
	if s.End != nil {
		word = s.End.Outcome
	}
	if s.DryRun {
		word += " (dry run)"
	}
	return word
}

// Duration returns how long the run took, or has taken by now.
func (s *Summary) Duration(now time.Time) time.Duration {
	if s.End != nil {
		return time.Duration(s.End.Seconds * float64(time.Second))
	}
	return max(0, now.Sub(s.Started))
}

// OfJob reports whether a cron job started the run. Runs of earlier versions have the job's name only as the
// name of their lock.
func (s *Summary) OfJob(name string) bool { return cmp.Or(s.Job, s.Lock) == name }

// Failed reports whether the run failed or was killed. A run that was skipped because of its lock, or
// terminated by SIGTERM, did not fail.
func (s *Summary) Failed() bool {
	if s.End == nil {
		return s.State == Lost
	}
	return !slices.Contains([]int{0, 6, 143}, s.End.ExitCode)
}

// JSON returns the summary as indented JSON.
func (s *Summary) JSON() []byte {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // strings, numbers and times always marshal
	}
	return append(text, '\n')
}
