package dap

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"

	protocol "github.com/google/go-dap"

	"transect/bindings"
	"transect/client/declare"
	"transect/runtime/debug"
	"transect/runtime/vm"
)

// view is the editor's view of a stopped script: levels and variables have numbers that later stops do not
// reuse. Only the stopped script uses it.
type view struct {
	entry      bool // it should stop at its first line, and has not yet
	waiting    int  // calls in progress as last reported
	last       int  // last number assigned
	levels     map[int]*vm.Level
	containers map[int]container
}

// container is a value or scope with variables.
type container struct {
	level *vm.Level // level for evaluating code on it
	path  string    // as an expression, "" for a scope
	fixed bool      // list has all variables
	list  []vm.Variable
	value lua.LValue // otherwise, the value that has them
}

// maxText limits the text of a value in the list of variables.
const maxText = 300

// errRuns is the error while the script is not stopped.
var errRuns = errors.New("the script is not stopped")

func (v *Server) isStopped() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stopped
}

// pass passes a request to the stopped script.
func (v *Server) pass(r request) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.stopped {
		return errRuns
	}
	select {
	case v.queue <- r:
		return errLater
	default:
		return errors.New("the script still evaluates something; terminate ends it")
	}
}

// whileStopped handles requests until one continues the script.
func (v *Server) whileStopped(s *debug.Stop) debug.Action {
	v.levels, v.containers = map[int]*vm.Level{}, map[int]container{}
	v.mu.Lock()
	v.stopped, v.threads = true, s.Tasks()
	v.mu.Unlock()
	v.announce(s)
	for {
		select {
		case r := <-v.queue:
			var action debug.Action
			goesOn := false
			v.safely(r, func(r request) (body any, err error) {
				var task int
				if action, task, goesOn = v.action(r); goesOn {
					s.Follow(task)
					v.goOn()
					if r.GetRequest().Command == "continue" {
						body = protocol.ContinueResponseBody{AllThreadsContinued: true}
					}
					return body, nil
				}
				return v.inspect(s, r)
			})
			if goesOn {
				return action
			}
		case <-s.Done():
			v.goOn()
			return debug.Quit
		}
	}
}

// goOn answers requests that come too late.
func (v *Server) goOn() {
	v.mu.Lock()
	v.stopped = false
	v.mu.Unlock()
	for {
		select {
		case r := <-v.queue:
			v.fail(r.GetSeq(), r.GetRequest().Command, errRuns.Error())
		default:
			return
		}
	}
}

// action returns the action of a request that continues the script, and its task.
func (v *Server) action(r request) (action debug.Action, task int, goesOn bool) {
	switch r := r.RequestMessage.(type) {
	case *protocol.ContinueRequest:
		return debug.Continue, 0, true
	case *protocol.NextRequest:
		return debug.Over, r.Arguments.ThreadId, true
	case *protocol.StepInRequest:
		return debug.Into, r.Arguments.ThreadId, true
	case *protocol.StepOutRequest:
		return debug.Out, r.Arguments.ThreadId, true
	}
	return 0, 0, false
}

// announce reports where and why the script stopped.
func (v *Server) announce(s *debug.Stop) {
	body := protocol.StoppedEventBody{Reason: s.Reason, ThreadId: s.Task(), AllThreadsStopped: true, Text: s.Text}
	switch {
	case s.Reason == "exception":
		body.Description = "Stopped at an error"
	case s.Breakpoint != nil:
		body.HitBreakpointIds = []int{s.Breakpoint.ID}
	case v.entry:
		body.Reason = "entry"
	}
	v.entry = false
	if s.Text != "" && s.Reason != "exception" {
		v.logged(s.Text, "", 0)
	}
	if s.Waiting > v.waiting {
		v.logged(debug.InProgress(s), "", 0)
	}
	v.waiting = s.Waiting
	v.event("stopped", body)
}

// inspect answers a request about the stopped script.
func (v *Server) inspect(s *debug.Stop, r request) (any, error) {
	switch r := r.RequestMessage.(type) {
	case *protocol.StackTraceRequest:
		return v.stack(s, r.Arguments)
	case *protocol.ScopesRequest:
		return v.scopes(s, r.Arguments.FrameId)
	case *protocol.VariablesRequest:
		return v.variables(s, r.Arguments)
	case *protocol.SetVariableRequest:
		return v.set(s, r.Arguments)
	case *protocol.EvaluateRequest:
		return v.evaluate(s, r.Arguments)
	case *protocol.ExceptionInfoRequest:
		if s.Reason != "exception" {
			return nil, errors.New("the script is not stopped at an error")
		}
		return protocol.ExceptionInfoResponseBody{ExceptionId: "error", Description: s.Text, BreakMode: "always"}, nil
	}
	return nil, fmt.Errorf("the request %s is not supported", r.GetRequest().Command)
}

// number returns a new number for a level or a container.
func (v *view) number() int {
	v.last++
	return v.last
}

func (v *Server) stack(s *debug.Stop, a protocol.StackTraceArguments) (any, error) {
	levels := s.Levels(a.ThreadId)
	if len(levels) == 0 {
		return nil, fmt.Errorf("there is no task %d that runs Lua", a.ThreadId)
	}
	from := min(max(a.StartFrame, 0), len(levels))
	to := len(levels)
	if a.Levels > 0 {
		to = min(to, from+a.Levels)
	}
	answer := protocol.StackTraceResponseBody{StackFrames: []protocol.StackFrame{}, TotalFrames: len(levels)}
	for _, l := range levels[from:to] {
		frame := protocol.StackFrame{Id: v.number(), Name: cmp.Or(l.Function, filepath.Base(l.File)), Line: v.shown(l.Line),
			Column: v.shown(1)}
		if strings.HasPrefix(l.File, "@") { // built in
			frame.Source = &protocol.Source{Name: l.File, PresentationHint: "deemphasize"}
			frame.PresentationHint = "subtle"
		} else {
			frame.Source = &protocol.Source{Name: filepath.Base(l.File), Path: s.Path(l)}
		}
		v.levels[frame.Id] = l
		answer.StackFrames = append(answer.StackFrames, frame)
	}
	return answer, nil
}

// level returns the level with a number, or the innermost one for 0.
func (v *view) level(s *debug.Stop, id int) (*vm.Level, error) {
	if id == 0 {
		if levels := s.Levels(s.Task()); len(levels) > 0 {
			return levels[0], nil
		}
	}
	l, ok := v.levels[id]
	if !ok {
		return nil, errors.New("the script has gone on since")
	}
	return l, nil
}

func (v *Server) scopes(s *debug.Stop, id int) (any, error) {
	l, err := v.level(s, id)
	if err != nil {
		return nil, err
	}
	answer := protocol.ScopesResponseBody{}
	for _, scope := range []struct {
		name, hint string
		list       []vm.Variable
	}{{"Locals", "locals", debug.Visible(l)}, {"Upvalues", "", l.Upvalues()}, {"Globals", "globals", s.Globals(l)}} {
		answer.Scopes = append(answer.Scopes, protocol.Scope{Name: scope.name, PresentationHint: scope.hint,
			VariablesReference: v.contain(container{level: l, fixed: true, list: scope.list}), NamedVariables: len(scope.list)})
	}
	return answer, nil
}

func (v *view) contain(c container) int {
	id := v.number()
	v.containers[id] = c
	return id
}

// inside returns a part of the variables of a container.
func (c container) inside(s *debug.Stop, from, most int) []vm.Variable {
	if c.fixed {
		from = min(from, len(c.list))
		return c.list[from:min(len(c.list), from+most)]
	}
	list, _ := s.Inside(c.value, from, most)
	return list
}

// mostVariables limits the variables listed if the editor sets no limit.
const mostVariables = 10_000

func (v *Server) variables(s *debug.Stop, a protocol.VariablesArguments) (any, error) {
	c, ok := v.containers[a.VariablesReference]
	if !ok {
		return nil, errors.New("the script has gone on since")
	}
	indexed, from, most := indexed(c.value), max(a.Start, 0), a.Count
	if most <= 0 || most > mostVariables {
		most = mostVariables
	}
	switch a.Filter {
	case "indexed":
		most = max(0, min(most, indexed-from))
	case "named":
		from += indexed
	}
	answer := protocol.VariablesResponseBody{Variables: []protocol.Variable{}}
	for _, inside := range c.inside(s, from, most) {
		path := inside.Name
		switch {
		case c.fixed:
		case strings.HasPrefix(path, "["):
			path = c.path + path
		case vm.IsName(path):
			path = c.path + "." + path
		default:
			path = fmt.Sprintf("%s[%q]", c.path, path)
		}
		shown := v.shownValue(s, c.level, path, inside)
		answer.Variables = append(answer.Variables, protocol.Variable{Name: inside.Name, EvaluateName: path,
			Value: shown.Value, Type: shown.Type, VariablesReference: shown.VariablesReference,
			IndexedVariables: shown.IndexedVariables, NamedVariables: shown.NamedVariables})
	}
	return answer, nil
}

// manyIndexed is the length from which editors request a list in pages.
const manyIndexed = 100

// indexed returns the length of a long list.
func indexed(value lua.LValue) int {
	if t, ok := value.(*lua.LTable); ok && t.Len() > manyIndexed {
		return t.Len()
	}
	return 0
}

// shownValue returns a value in the form of a list of variables.
func (v *Server) shownValue(s *debug.Stop, l *vm.Level, path string, of vm.Variable) protocol.SetVariableResponseBody {
	kind := strings.TrimPrefix(strings.TrimPrefix(vm.TypeName(of.Value), "a "), "an ")
	if r, ok := bindings.RecordOf(of.Value); ok {
		kind = declare.Singular(r.Manager)
	}
	shown := protocol.SetVariableResponseBody{Value: s.Variable(of, maxText), Type: kind}
	if !vm.IsSecretName(of.Name) && debug.HasInside(of.Value) {
		shown.VariablesReference = v.contain(container{level: l, path: path, value: of.Value})
		if shown.IndexedVariables = indexed(of.Value); shown.IndexedVariables > 0 {
			_, total := s.Inside(of.Value, 0, 0)
			shown.NamedVariables = total - shown.IndexedVariables
		}
	}
	return shown
}

func (v *Server) set(s *debug.Stop, a protocol.SetVariableArguments) (any, error) {
	c, ok := v.containers[a.VariablesReference]
	if !ok {
		return nil, errors.New("the script has gone on since")
	}
	for _, inside := range c.inside(s, 0, math.MaxInt) {
		if inside.Name != a.Name {
			continue
		}
		if inside.Set == nil {
			return nil, errors.New("the fields of a record cannot be set: an update operation changes them on the platform")
		}
		values, err := s.EvaluateAt(c.level, a.Value)
		if err != nil {
			return nil, err
		}
		inside.Value = lua.LNil
		if len(values) > 0 {
			inside.Value = values[0]
		}
		inside.Set(inside.Value)
		return v.shownValue(s, c.level, c.path+a.Name, inside), nil
	}
	return nil, fmt.Errorf("there is no variable %s here", a.Name)
}

// path matches an expression that calls nothing: names and indexes.
var path = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*[A-Za-z_]\w*(\.[A-Za-z_]\w*|\[(\d+|"[^"\\]*"|[A-Za-z_]\w*)\])*\s*$`)
})

func (v *Server) evaluate(s *debug.Stop, a protocol.EvaluateArguments) (any, error) {
	l, err := v.level(s, a.FrameId)
	if err != nil {
		return nil, err
	}
	plain := path().MatchString(a.Expression)
	if a.Context == "hover" && !plain {
		return nil, errors.New("only variables and fields are shown here")
	}
	values, err := s.EvaluateAt(l, a.Expression)
	if err != nil {
		return nil, err
	}
	if len(values) != 1 {
		text := ""
		if len(values) > 0 {
			text = s.Line(values)
		}
		return protocol.EvaluateResponseBody{Result: text}, nil
	}
	of := vm.Variable{Value: values[0]}
	if plain { // whether it names a secret
		of.Name = a.Expression
	}
	shown := v.shownValue(s, l, "("+a.Expression+")", of)
	if a.Context == "repl" && !vm.IsSecretName(of.Name) {
		shown.Value = s.Line(values)
	}
	return protocol.EvaluateResponseBody{Result: shown.Value, Type: shown.Type,
		VariablesReference: shown.VariablesReference, IndexedVariables: shown.IndexedVariables,
		NamedVariables: shown.NamedVariables}, nil
}
