package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"transect/client/fault"
	"transect/runtime/vm"
)

// errorReport is what there is to tell of an error.
type errorReport struct {
	name      string // of the error
	operation string // that failed, or ""
	message   string
	cause     string // what is underneath and not in the message
	hint      string
	status    int // of the platform's answer, or 0
	service   string
	code      string
	places    []place // innermost first
}

// Report tells people why a run or a command failed, on the error stream.
func Report(w *World, out Output, err error) {
	var asked *vm.Exit
	var interrupted *Interrupted
	var told *Told
	switch {
	case err == nil || errors.As(err, &asked) || errors.As(err, &told):
		return
	case errors.As(err, &interrupted) && !out.JSON:
		fmt.Fprintln(w.Stderr, interrupted)
		return
	}
	r := newErrorReport(err)
	r.places = w.places(err)
	text := r.text(palette(w.colours()))
	if out.JSON {
		text = r.line(w.Now(), ExitCode(err))
	}
	_, _ = w.Stderr.Write([]byte(text)) // nobody is left to tell
	var internal *InternalError
	if errors.As(err, &internal) && w.lookup("TRANSECT_DEBUG") != "" {
		_, _ = w.Stderr.Write(internal.Stack)
	}
}

func newErrorReport(err error) *errorReport {
	f := fault.Find(err)
	if f == nil {
		return &errorReport{name: (&fault.CancelledError{}).Name(), message: err.Error()} // by a signal
	}
	facts := f.Facts()
	r := &errorReport{name: f.Name(), operation: facts.Operation, message: facts.Message, hint: facts.Hint}
	if r.message == "" {
		r.message = "failed"
	}
	if facts.Cause != nil && f.Name() != (&fault.SyntaxError{}).Name() {
		r.cause = facts.Cause.Error()
		if strings.Contains(r.message, r.cause) {
			r.cause = ""
		}
	}
	for cause := facts.Cause; r.hint == "" && cause != nil; cause = errors.Unwrap(cause) {
		if inner, ok := cause.(fault.Fault); ok {
			r.hint = inner.Facts().Hint
		}
	}
	var answer *fault.ResponseError
	if errors.As(err, &answer) {
		r.status, r.service, r.code = answer.Status, answer.Service, answer.Code
	}
	return r
}

// text is the report for reading: what failed, where, why, what to do.
func (r *errorReport) text(p colours) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%s: ", p.name, r.name, p.off)
	if r.operation != "" {
		fmt.Fprintf(&b, "%s: ", r.operation)
	}
	b.WriteString(r.headline() + "\n")
	for i, at := range r.places {
		lead := "  "
		if i > 0 {
			lead = "  from "
		}
		fmt.Fprintf(&b, "%s%s%s%s", lead, p.place, at, p.off)
		if at.source != "" {
			fmt.Fprintf(&b, ": %s", at.source)
		}
		b.WriteByte('\n')
	}
	if r.cause != "" {
		fmt.Fprintf(&b, "  cause: %s\n", indented(r.cause))
	}
	if r.hint != "" {
		fmt.Fprintf(&b, "  %shint%s: %s\n", p.hint, p.off, indented(r.hint))
	}
	return b.String()
}

// headline is the message without the place plain Lua errors begin with: that
// is told with its source line.
func (r *errorReport) headline() string {
	message := r.message
	if len(r.places) > 0 {
		message = strings.TrimPrefix(message, r.places[0].String()+": ")
	}
	return indented(message)
}

func indented(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") }

// line is the report as one JSON line, in the form of the log's lines.
func (r *errorReport) line(now time.Time, exit int) string {
	fields := struct {
		Time      time.Time `json:"time"`
		Level     string    `json:"level"`
		Message   string    `json:"msg"`
		Error     string    `json:"error"`
		Operation string    `json:"operation,omitempty"`
		Status    int       `json:"status,omitempty"`
		Service   string    `json:"service,omitempty"`
		Code      string    `json:"code,omitempty"`
		File      string    `json:"file,omitempty"`
		Line      int       `json:"line,omitempty"`
		Source    string    `json:"source,omitempty"`
		Cause     string    `json:"cause,omitempty"`
		Hint      string    `json:"hint,omitempty"`
		Exit      int       `json:"exit_code"`
	}{Time: now, Level: "ERROR", Message: strings.TrimSpace(r.message), Error: r.name, Operation: r.operation,
		Status: r.status, Service: r.service, Code: r.code, Cause: r.cause, Hint: r.hint, Exit: exit}
	if len(r.places) > 0 {
		at := r.places[0]
		fields.Message = strings.TrimPrefix(fields.Message, at.String()+": ")
		fields.File, fields.Line, fields.Source = at.file, at.line, at.source
	}
	line, err := json.Marshal(fields)
	if err != nil {
		return r.text(colours{}) // texts and numbers always marshal
	}
	return string(line) + "\n"
}

// colours are the terminal's escape sequences, empty where it takes none.
type colours struct{ name, place, hint, off string }

func palette(on bool) colours {
	if !on {
		return colours{}
	}
	return colours{name: "\x1b[1;31m", place: "\x1b[1m", hint: "\x1b[36m", off: "\x1b[0m"}
}
