package vm

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"transect/client/fault"
)

// Frame is one entry of a stack trace.
type Frame struct {
	File     string
	Line     int // from 1; 0 when unknown
	Function string
}

// Report is what there is to show of a failed run.
type Report struct {
	Err    error
	Frames []Frame // innermost first
}

// Exit is how os.exit and script.exit end a run: not a failure, but an exit
// code. A run that asked for code 0 returns it too.
type Exit struct{ Code int }

func (e *Exit) Error() string { return "exit " + strconv.Itoa(e.Code) }

// ScriptError is the failure of a run: a fault, and where in the script.
type ScriptError struct {
	Err    error
	Value  lua.LValue // what the script raised, when it was not a fault
	Frames []Frame
}

func (e *ScriptError) Error() string { return e.Err.Error() }
func (e *ScriptError) Unwrap() error { return e.Err }

// Failure is the report of a Run method's error; nil only for nil.
func Failure(err error) *Report {
	if err == nil {
		return nil
	}
	var s *ScriptError
	if errors.As(err, &s) {
		return &Report{Err: s.Err, Frames: s.Frames}
	}
	return &Report{Err: err}
}

// scriptError makes a run's error of an uncaught raise.
func (in *Interp) scriptError(t *Caught) error {
	trace := parseTrace(t.trace)
	if r := errorValueOf(t.value); r != nil {
		if len(r.frames) > 0 {
			trace = r.frames
		}
		return &ScriptError{Err: r.err, Frames: trace}
	}
	e := &ScriptError{Value: t.value, Frames: trace}
	text := in.describe(t.value)
	err := fault.Of(&fault.RuntimeError{}, "%s", text)
	e.Err = err
	// The message names the line that failed, also when a task failed there
	// and the trace is that of the task that waited for it.
	if m := position().FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[2])
		if len(trace) == 0 || trace[0].File != m[1] || trace[0].Line != line {
			e.Frames = append([]Frame{{File: m[1], Line: line}}, trace...)
		}
	}
	if m := nilGlobal().FindStringSubmatch(text); m != nil {
		err.Hint = in.suggestGlobal(m[1], e.Frames)
	}
	return e
}

// describe is tostring for an uncaught value, which may be a table with a
// __tostring of its own.
func (in *Interp) describe(v lua.LValue) string {
	switch v := v.(type) {
	case *lua.LTable:
		if m := v.RawGetString("message"); m != lua.LNil {
			return m.String()
		}
		if in.ctx.Err() == nil && in.main.GetMetaField(v, "__tostring") != lua.LNil {
			c := &clock{Context: in.ctx, in: in}
			values, err := in.protect(in.main, c, in.main.GetMetaField(v, "__tostring"), []lua.LValue{v}, nil)
			if err == nil && len(values) > 0 {
				return values[0].String()
			}
		}
		return "the script raised the table " + shown(v)
	case *lua.LNilType:
		return "the script raised nil"
	}
	return v.String()
}

var (
	position   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+?\.lua|[^\s:][^:\n]*):(\d+): `) })
	nilGlobal  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`global '([^']+)' \(a nil value\)$`) })
	traceEntry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\t(.+):(\d+): in (.*)$`) })
)

func parseTrace(trace string) []Frame {
	var frames []Frame
	for _, line := range strings.Split(trace, "\n") {
		if m := traceEntry().FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			frames = append(frames, Frame{File: m[1], Line: n, Function: functionName(m[3])})
		}
	}
	return frames
}

func functionName(s string) string {
	s = strings.TrimPrefix(s, "function ")
	return strings.Trim(s, "'<>")
}

const maxReportedFrames = 20

// frames captures where L is, across the threads of protected calls.
func (in *Interp) frames(L *lua.LState) []Frame {
	var frames []Frame
	for th := L; th != nil; th = in.owner[th] {
		for level := 0; len(frames) < maxReportedFrames; level++ {
			dbg, ok := th.GetStack(level)
			if !ok {
				break
			}
			if _, err := th.GetInfo("Sln", dbg, lua.LNil); err != nil || dbg.CurrentLine <= 0 {
				continue // a Go function
			}
			frames = append(frames, Frame{File: dbg.Source, Line: dbg.CurrentLine, Function: functionName(dbg.Name)})
		}
	}
	return frames
}

// syntaxError makes a fault of a compiler error.
func syntaxError(name string, lines int, err error) error {
	line, message := 0, err.Error()
	var api *lua.ApiError
	if errors.As(err, &api) && api.Cause != nil {
		err = api.Cause
	}
	var p *parse.Error
	var c *lua.CompileError
	switch {
	case errors.As(err, &p) && strings.HasPrefix(p.Message, "unterminated"):
		line, message = p.Pos.Line, p.Message+" near '"+p.Token+"'"
		if line == parse.EOF {
			line = lines
		}
	case errors.As(err, &p) && p.Pos.Line == parse.EOF:
		message = "the script ends in the middle of a statement"
		line = lines
	case errors.As(err, &p):
		line, message = p.Pos.Line, p.Message
		if p.Token != "" {
			message += " near '" + p.Token + "'"
		}
	case errors.As(err, &c):
		line, message = c.Line, c.Message
	}
	e := &ScriptError{}
	where := name
	if line > 0 {
		where += ":" + strconv.Itoa(line)
		e.Frames = []Frame{{File: name, Line: line}}
	}
	f := fault.Of(&fault.SyntaxError{}, "%s: %s", where, message)
	f.Cause = err
	e.Err = quiet{f}
	return e
}

// quiet is a syntax error whose cause says the same once more: it is kept for
// the prompt, which asks it whether more input is needed, but not printed.
type quiet struct{ *fault.SyntaxError }

func (q quiet) Error() string { return q.Message }

// Unwrap leads to the fault itself, for errors.As.
func (q quiet) Unwrap() error { return q.SyntaxError }
