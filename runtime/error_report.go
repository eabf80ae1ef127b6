package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"transect/client/fault"
	"transect/client/human"
	"transect/client/transfer"
	"transect/runtime/vm"
)

// ErrorReport is an error in the form reported to people and programs.
type ErrorReport struct {
	Name      string // of the error
	Operation string // that failed, or ""
	Message   string // without the position
	Cause     string // the underlying error, when it is not in the message
	Hint      string
	Status    int // of the platform's response, or 0
	Service   string
	Code      string
	Stack     []SourceLine // innermost first
}

// Report prints why a run or a command failed to standard error.
func Report(p *Process, out Output, err error) {
	if err == nil || is[*vm.Exit](err) || is[*Reported](err) {
		return
	}
	if interrupted, ok := errors.AsType[*Interrupted](err); ok && !out.JSON {
		fmt.Fprintln(p.Stderr, interrupted)
		return
	}
	r := Describe(p, err)
	text := r.text(palette(p.colours()))
	if out.JSON {
		text = r.line(p.Now(), ExitCode(err))
	}
	_, _ = p.Stderr.Write([]byte(text)) // there is nowhere to report its error
	if internal, ok := errors.AsType[*vm.InternalError](err); ok && p.Getenv("TRANSECT_DEBUG") != "" {
		_, _ = p.Stderr.Write(internal.Stack)
	}
}

// Describe collects what is known about an error.
func Describe(p *Process, err error) *ErrorReport {
	f := fault.Find(err)
	if f == nil {
		return &ErrorReport{Name: (&fault.CancelledError{}).Name(), Message: err.Error()} // by a signal
	}
	facts := f.Facts()
	r := &ErrorReport{Name: f.Name(), Operation: facts.Operation, Message: facts.Message, Hint: facts.Hint}
	if !is[*fault.UsageError](err) { // a mistake of the user, not of the script
		r.Stack = p.stack(err)
	}
	if r.Message == "" {
		r.Message = "failed"
	}
	if facts.Cause != nil && !strings.Contains(r.Message, facts.Cause.Error()) {
		r.Cause = facts.Cause.Error()
	}
	for cause := facts.Cause; r.Hint == "" && cause != nil; cause = errors.Unwrap(cause) {
		if inner, ok := cause.(fault.Fault); ok {
			r.Hint = inner.Facts().Hint
		}
	}
	if r.Hint == "" && transfer.IsFull(err) {
		r.Hint = "the disk is full: free some space, and run again"
	}
	if response, ok := errors.AsType[*fault.ResponseError](err); ok {
		r.Status, r.Service, r.Code = response.Status, response.Service, response.Code
	}
	if len(r.Stack) > 0 { // plain Lua errors begin with the position, which is printed with its source line
		r.Message = strings.TrimPrefix(r.Message, r.Stack[0].String()+": ")
	}
	r.Message = strings.TrimSpace(r.Message)
	return r
}

// text formats the report for people: what failed, where, why, what to do.
func (r *ErrorReport) text(c colours) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%s: ", c.name, r.Name, c.off)
	if r.Operation != "" {
		fmt.Fprintf(&b, "%s: ", human.Line(r.Operation))
	}
	b.WriteString(indented(r.Message) + "\n")
	for i, line := range r.Stack {
		lead := "  "
		if i > 0 {
			lead = "  from "
		}
		fmt.Fprintf(&b, "%s%s%s%s", lead, c.position, human.Line(line.String()), c.off)
		if line.Text != "" {
			fmt.Fprintf(&b, ": %s", human.Line(line.Text))
		}
		b.WriteByte('\n')
	}
	if r.Cause != "" {
		fmt.Fprintf(&b, "  cause: %s\n", indented(r.Cause))
	}
	if r.Hint != "" {
		fmt.Fprintf(&b, "  %shint%s: %s\n", c.hint, c.off, indented(r.Hint))
	}
	return b.String()
}

func indented(text string) string {
	return strings.ReplaceAll(human.Visible(strings.TrimSpace(text)), "\n", "\n    ")
}

// ErrorLine is the line of --log-format json for the error that ended a run or a command.
type ErrorLine struct {
	Time      time.Time `json:"time"`
	Level     string    `json:"level" jsonschema:"ERROR"`
	Message   string    `json:"msg"`
	Error     string    `json:"error" jsonschema:"name of the error, such as ParameterError"`
	Operation string    `json:"operation,omitempty"`
	Status    int       `json:"status,omitempty" jsonschema:"of the platform's response"`
	Service   string    `json:"service,omitempty"`
	Code      string    `json:"code,omitempty"`
	File      string    `json:"file,omitempty"`
	Line      int       `json:"line,omitempty"`
	Source    string    `json:"source,omitempty" jsonschema:"text of that line"`
	Cause     string    `json:"cause,omitempty"`
	Hint      string    `json:"hint,omitempty" jsonschema:"what to do"`
	Exit      int       `json:"exit_code"`
}

// line formats the report as a line of the JSON log.
func (r *ErrorReport) line(now time.Time, exit int) string {
	fields := ErrorLine{Time: now, Level: "ERROR", Message: r.Message, Error: r.Name, Operation: r.Operation,
		Status: r.Status, Service: r.Service, Code: r.Code, Cause: r.Cause, Hint: r.Hint, Exit: exit}
	if len(r.Stack) > 0 {
		fields.File, fields.Line, fields.Source = r.Stack[0].File, r.Stack[0].Line, r.Stack[0].Text
	}
	line, _ := json.Marshal(fields) // cannot fail: texts and numbers
	return string(line) + "\n"
}

// colours are escape sequences of the terminal, empty without colours.
type colours struct{ name, position, hint, off string }

func palette(on bool) colours {
	if !on {
		return colours{}
	}
	return colours{name: "\x1b[1;31m", position: "\x1b[1m", hint: "\x1b[36m", off: "\x1b[0m"}
}

// Reported is an error that was printed already.
type Reported struct{ Err error }

func (r *Reported) Error() string {
	if r.Err == nil {
		return "success"
	}
	return r.Err.Error()
}

// Unwrap returns the error, for the exit code.
func (r *Reported) Unwrap() error { return r.Err }
