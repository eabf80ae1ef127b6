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
	"transect/runtime/engine/compile"
	"transect/runtime/vm/mistake"
)

// Frame is one entry of a stack trace.
type Frame struct {
	File string
	Line int // from 1; 0 when unknown
}

// Exit is how os.exit and script.exit end a run: not a failure, but an exit
// code. A run that asked for code 0 returns it too.
type Exit struct{ Code int }

func (e *Exit) Error() string { return "exit " + strconv.Itoa(e.Code) }

// ScriptError is the failure of a run: a fault, and where in the script.
type ScriptError struct {
	Err    error
	Frames []Frame // innermost first
}

func (e *ScriptError) Error() string { return e.Err.Error() }
func (e *ScriptError) Unwrap() error { return e.Err }

// Failure returns a Run method's error with where it arose, which may be
// unknown; nil only for nil.
func Failure(err error) *ScriptError {
	if s, ok := errors.AsType[*ScriptError](err); ok || err == nil {
		return s
	}
	return &ScriptError{Err: err}
}

// scriptError makes a run's error of an uncaught raise.
func (in *Interp) scriptError(t *Caught) error {
	trace := t.frames()
	if err := t.Err(); err != nil {
		return &ScriptError{Err: err, Frames: trace}
	}
	text := in.describe(t.Value)
	err := fault.Of(&fault.RuntimeError{}, "%s", text)
	e := &ScriptError{Err: err, Frames: trace}
	// The message names the line that failed, also when a task failed there and
	// the trace belongs to the task that waited for it.
	if m := position().FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[2])
		if len(trace) == 0 || trace[0].File != m[1] || trace[0].Line != line {
			e.Frames = append([]Frame{{File: m[1], Line: line}}, trace...)
		}
	}
	err.Hint = in.hint(text, e.Frames)
	return e
}

// describe converts an uncaught value like tostring: it may be a table with a
// __tostring.
func (in *Interp) describe(v lua.LValue) string {
	switch v := v.(type) {
	case *lua.LTable:
		if m := v.RawGetString("message"); m != lua.LNil {
			return m.String()
		}
		if in.ctx.Err() == nil && in.main.GetMetaField(v, "__tostring") != lua.LNil {
			c := &clock{Context: in.ctx, in: in}
			values, err := in.protect(in.main, c, in.main.GetMetaField(v, "__tostring"), []lua.LValue{v})
			if err == nil && len(values) > 0 {
				return values[0].String()
			}
		}
		return "the script raised the table " + (&Printer{Depth: 3, Items: 20, Width: 80, Size: 600, OneLine: true,
			Secrets: true}).Text(v)
	case *lua.LNilType:
		return "the script raised nil"
	}
	return v.String()
}

var (
	position  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+?\.lua|[^\s:][^:\n]*):(\d+): `) })
	nilGlobal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`global '([^']+)' \(a nil value\)$`) })
	nilMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`call (?:method|field) '([^']+)'`) })
)

// frames returns the stack where the value was raised.
func (c *Caught) frames() []Frame {
	if c.raised != nil && len(c.raised.frames) > 0 {
		return c.raised.frames
	}
	if r := errorValueOf(c.Value); r != nil && len(r.frames) > 0 {
		return r.frames
	}
	return c.trace
}

const maxReportedFrames = 20

// frames captures where L is, across the threads of protected calls.
func (in *Interp) frames(L *lua.LState) []Frame {
	var frames []Frame
	for th := L; th != nil; th = ownerOf(th) {
		stack(th, 0, func(p place) bool {
			if p.line > 0 {
				frames = append(frames, Frame{p.fn.Proto.SourceName, p.line})
			}
			return len(frames) < maxReportedFrames
		})
	}
	return frames
}

// SyntaxError makes a fault of an error of Check.
func SyntaxError(name string, code []byte, err error) error {
	lines := strings.Split(strings.TrimRight(string(code), "\r\n \t"), "\n")
	line, message, hint := 0, err.Error(), ""
	if c, ok := errors.AsType[*compile.Error](err); ok {
		line, message = c.Line, c.Message
	}
	if p, ok := errors.AsType[*parse.Error](err); ok {
		line, message = p.Pos.Line, p.Message
		switch {
		case line == parse.EOF && !strings.HasPrefix(message, "unterminated"):
			message, hint = "the script ends in the middle of a statement", mistake.End(string(code))
		default:
			var near string
			near, hint = mistake.Near(string(code), line, p.Pos.Column, p.Token)
			message += near
		}
		if line == parse.EOF {
			line = len(lines)
		}
	}
	if hint == "" {
		hint = mistake.Line(string(code), line)
	}
	e := &ScriptError{}
	if line > 0 {
		e.Frames = []Frame{{name, line}}
		name += ":" + strconv.Itoa(line)
	}
	failed := fault.Of(&fault.SyntaxError{}, "%s: %s", name, message)
	failed.Hint = hint
	e.Err = failed
	return e
}
